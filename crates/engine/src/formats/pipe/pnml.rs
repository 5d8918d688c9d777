//! PNML of tools other than PIPE: the supported parts.
//!
//! A net that is not a place/transition net is refused, and the error states its formalism. Without the parts that
//! tailspn lacks, the net would be a different net.

use std::ops::Range;

use crate::formats::pipe::collect::Collector;
use crate::formats::pipe::problem::{Fault, Oddity};
use crate::formats::pipe::raw::ToolTiming;
use crate::formats::pipe::xml::{Element, Text};
use crate::net::StateGroup;

/// The grammars of PNML 2009 that are place/transition nets.
const PLAIN_GRAMMARS: [&str; 2] = ["ptnet", "pnmlcoremodel"];

/// Elements of a marking or a weight that represent values other than numbers of tokens.
const COLOUR_PARTS: [&str; 6] = ["variable", "expression", "tuple", "object", "test", "structure"];

/// Tools whose data of a transition describe a drawing, or are read elsewhere.
const OWN_TOOLS: [&str; 5] = ["PIPE", "JARP", "tailspn", "ProM", "Snoopy"];

/// Returns true if an element contains a number in a child's text.
fn holds_number(element: Element<'_, '_>) -> bool {
    element.children().any(|child| child.text().is_some_and(|text| text.value.trim().parse::<f64>().is_ok()))
}

impl<'t> Collector<'_, '_, 't> {
    /// Refuses the file because of `what`, a part of `formalism`.
    pub(super) fn refuse(&mut self, span: Range<usize>, what: String, formalism: &'static str) {
        self.notes.fault(span, Fault::Formalism { what, formalism });
    }

    /// Notes the `type` of a net, and refuses an unsupported one.
    pub(super) fn net_type(&mut self, kind: Text<'t>) {
        if let Some((_, grammar)) = kind.value.split_once("pnml.org/version-2009/grammar/") {
            self.net.traces.pnml_type = true;
            if !PLAIN_GRAMMARS.contains(&grammar) {
                self.notes.fault(kind.span, Fault::NetType { name: kind.value.into_owned() });
            }
        } else {
            self.net.traces.pnml_type |= kind.value.contains("/pntd/");
        }
    }

    /// The text of a marking or weight: a number, or the black tokens of a multiset.
    pub(super) fn written(&mut self, element: Element<'_, 't>, part: &str, id: &Text<'_>) -> Option<Text<'t>> {
        self.net.traces.in_text |= element.child("text").is_some();
        self.net.traces.in_value |= element.child("value").is_some();
        if let Some(multiset) = element.child("multiset") {
            return self.multiset(multiset, part, id);
        }
        let inner = element.child("value").map(|value| value.children().next());
        let odd = element.children().chain(inner.flatten()).find(|child| COLOUR_PARTS.contains(&child.name()));
        if let Some(odd) = odd {
            self.coloured(odd, part, id);
        }
        element.value()
    }

    /// Number of black tokens in a multiset of SNAKES.
    fn multiset(&mut self, multiset: Element<'_, 't>, part: &str, id: &Text<'_>) -> Option<Text<'t>> {
        let mut tokens = 0_u64;
        for item in multiset.children() {
            let black = item.child("value").is_some_and(|value| value.child("token").is_some());
            let times = item.child("multiplicity").and_then(|times| times.text().map(Text::trimmed).or(times.value()));
            match times.map_or(Some(1), |times| times.value.parse::<u64>().ok()) {
                Some(times) if black => tokens = tokens.saturating_add(times),
                _ => {
                    self.coloured(item, part, id);
                    return None;
                }
            }
        }
        Some(Text { value: tokens.to_string().into(), span: multiset.span() })
    }

    /// Refuses a part with colours.
    pub(super) fn coloured(&mut self, element: Element<'_, 't>, part: &str, id: &Text<'_>) {
        let what = format!("{part} `{}` has a coloured value (`<{}>`)", id.value, element.name());
        self.refuse(element.span(), what, "coloured Petri nets of PNML");
    }

    /// Refuses a transition with a guard over data. A condition over the marking is in `<value>`.
    pub(super) fn guard(&mut self, element: Element<'_, 't>, id: &Text<'_>) {
        let written = element.attribute("guard").map(|guard| (guard.value.trim().is_empty(), guard.span));
        let child = element
            .child("guard")
            .filter(|guard| guard.child("value").is_none())
            .map(|guard| (guard.children().next().is_none(), guard.span()));
        if let Some((false, span)) = written.or(child) {
            self.refuse(span, format!("transition `{}` has a guard", id.value), "data Petri nets");
        }
    }

    /// Refuses a time interval of TINA, unless it is from 0 to infinity.
    pub(super) fn time_interval(&mut self, delay: Element<'_, 't>, id: &Text<'_>) {
        let Some(interval) = delay.child("interval") else { return };
        let ends: Vec<_> =
            interval.children().filter_map(|end| Some((end.name(), end.text()?.trimmed().value))).collect();
        let open = interval.attribute("closure").is_none_or(|closure| closure.value.starts_with("closed"));
        if let [("cn", low), ("ci", high)] = &*ends
            && (open, &**low, &**high) == (true, "0", "infty")
        {
            return;
        }
        let ends: Vec<_> = ends.iter().map(|(_, end)| &**end).collect();
        let what = format!("transition `{}` has the time interval from {}", id.value, ends.join(" to "));
        self.refuse(interval.span(), what, "time Petri nets");
    }

    /// Data of tools other than PIPE in `<toolspecific>`.
    pub(super) fn pnml_tool(&mut self, element: Element<'_, 't>) -> Option<ToolTiming<'t>> {
        let tool = element.attribute("tool")?;
        match &*tool.value {
            "StochasticPetriNet" => return Some(ToolTiming::Stochastic(self.stochastic(element))),
            "DICE PNML Extensions" => {
                self.net.traces.dice = true;
                return element.value().map(ToolTiming::Dice);
            }
            "WoPeD" => {
                self.net.traces.woped = true;
                let text = |name: &str| element.child(name).and_then(Element::text).map(Text::trimmed);
                let number = |name: &str| text(name).and_then(|text| text.value.parse::<f64>().ok());
                let used = number("time").is_some_and(|time| time > 0.0)
                    || number("probability").is_some_and(|probability| probability.to_bits() != 1.0_f64.to_bits())
                    || element.child("transitionResource").is_some();
                if used {
                    self.notes.odd(element.span(), Oddity::Workflow, || {
                        "times, probabilities and resources of WoPeD are ignored".to_owned()
                    });
                }
            }
            name if !OWN_TOOLS.contains(&name) && holds_number(element) => {
                self.net.traces.unread_tool = true;
                self.notes.odd(element.span(), Oddity::UnreadTool, || {
                    format!("the data of `{name}` in <toolspecific> are not read")
                });
            }
            _ => {}
        }
        None
    }

    /// The final markings of a process net, as state groups.
    pub(super) fn final_markings(&mut self, element: Element<'_, 't>) {
        self.net.traces.pm4py = true;
        for (i, marking) in element.children().filter(|child| child.name() == "marking").enumerate() {
            let tokens =
                |place: Element<'_, 't>| Some((place.attribute("idref")?.value.into_owned(), place.value()?.value));
            let tokens: Vec<_> = marking.children().filter_map(tokens).collect();
            let condition = |id: &str| {
                let count = tokens.iter().find(|(place, _)| place == id).map_or("0", |(_, count)| count);
                format!("#({id}) = {count}")
            };
            let conditions = self.net.places.iter().map(|place| condition(&place.node.id.value)).collect();
            let name = "final marking".to_owned();
            self.net.groups.push(StateGroup { id: format!("final{}", i + 1), name, conditions });
        }
    }
}
