//! PNML of tools other than PIPE: the supported parts.
//!
//! A net that is not a place/transition net is refused, and the error states its formalism. Without the parts that
//! tailspn lacks, the net would be a different net.

use std::ops::Range;

use crate::formats::pipe::collect::Collector;
use crate::formats::pipe::notes::Notes;
use crate::formats::pipe::problem::{Fault, Oddity};
use crate::formats::pipe::raw::Stochastic;
use crate::formats::pipe::xml::{Element, Text};
use crate::net::{Delay, Law, Memory, Servers, StateGroup, Timing};

/// The grammars of PNML 2009 that are place/transition nets.
const PLAIN_GRAMMARS: [&str; 2] = ["ptnet", "pnmlcoremodel"];

/// Elements of a marking or a weight that represent values other than numbers of tokens.
const COLOUR_PARTS: [&str; 6] = ["variable", "expression", "tuple", "object", "test", "structure"];

/// Message about distributions of pm4py that are not read.
const READABLE: &str = "distributions other than IMMEDIATE, EXPONENTIAL (rate), DETERMINISTIC (delay), UNIFORM (low;width), \
                        LOGNORMAL (shape;0;scale) and GAMMA (stages;0;scale)";

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

    /// Refuses a transition with a guard over data.
    pub(super) fn guard(&mut self, element: Element<'_, 't>, id: &Text<'_>) {
        let written = element.attribute("guard").map(|guard| (guard.value.trim().is_empty(), guard.span));
        let child = element.child("guard").map(|guard| (guard.children().next().is_none(), guard.span()));
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
    pub(super) fn pnml_tool(&mut self, element: Element<'_, 't>) -> Option<Stochastic<'t>> {
        let tool = element.attribute("tool")?;
        match &*tool.value {
            "StochasticPetriNet" => {
                self.net.traces.pm4py = true;
                let property = |key: &str| {
                    let named = element.children().find(|p| p.attribute("key").is_some_and(|k| k.value == key));
                    named?.text().map(Text::trimmed)
                };
                return Some(Stochastic {
                    tag: element.span(),
                    kind: property("distributionType"),
                    parameters: property("distributionParameters"),
                    weight: property("weight"),
                    priority: property("priority"),
                });
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

impl Stochastic<'_> {
    /// The timing of transition `id`, or `None` after a fault was noted.
    ///
    /// Parameters follow pm4py: an exponential delay has its rate, other delays `loc;scale` as in SciPy, in seconds. A
    /// timed transition keeps no weight, since delays race in tailspn.
    pub(super) fn timing(&self, notes: &mut Notes<'_>, id: &str, default_priority: u32) -> Option<Timing> {
        let kind = self.kind.as_ref().map_or("", |kind| &*kind.value);
        let text = self.parameters.as_ref().map_or("", |text| &*text.value);
        let numbers: Vec<f64> = text.split(';').filter_map(|number| number.trim().parse().ok()).collect();
        let law = match (kind, &*numbers) {
            ("IMMEDIATE", _) => return self.immediate(notes, id, default_priority),
            ("EXPONENTIAL", [rate]) => {
                self.note_weight(notes);
                return Some(Timing::exponential(*rate));
            }
            ("DETERMINISTIC", [delay]) => Law::Deterministic { delay: *delay },
            ("UNIFORM", [low, width]) => Law::Uniform { low: *low, high: low + width },
            ("LOGNORMAL", [shape, 0.0, scale]) => {
                let spread = shape * shape;
                Law::LogNormal { mean: scale * (spread / 2.0).exp(), cv: spread.exp_m1().sqrt() }
            }
            ("GAMMA", [shape, 0.0, scale]) if (1.0..=1000.0).contains(shape) && shape.fract() == 0.0 => {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, from 1 to 1000")]
                let stages = *shape as u32;
                Law::Erlang { stages, mean: shape * scale }
            }
            _ => {
                let span = self.parameters.as_ref().or(self.kind.as_ref()).map_or(self.tag.clone(), |t| t.span.clone());
                let what = format!("transition `{id}` has the distribution `{kind}` with parameters `{text}`");
                notes.fault(span, Fault::Formalism { what, formalism: READABLE });
                return None;
            }
        };
        self.note_weight(notes);
        let delay = Delay::General(law);
        Some(Timing::Timed { delay, servers: Servers::Single, memory: Memory::Enabling })
    }

    fn immediate(&self, notes: &mut Notes<'_>, id: &str, default_priority: u32) -> Option<Timing> {
        let weight = self.weight.as_ref().map_or(Some(1.0), |text| text.value.parse().ok());
        let priority = self.priority.as_ref().map_or(Some(default_priority), |text| text.value.parse().ok());
        if let (Some(weight), Some(priority)) = (weight.filter(|w: &f64| *w >= 0.0 && w.is_finite()), priority) {
            return Some(Timing::immediate(weight, priority));
        }
        let (name, text) = if weight.is_none() { ("weight", &self.weight) } else { ("priority", &self.priority) };
        let (span, text) = text.as_ref().map_or((self.tag.clone(), ""), |text| (text.span.clone(), &*text.value));
        let what = format!("the {name} of transition `{id}`");
        let expected = "a non-negative number";
        notes.fault(span, Fault::BadNumber { what, text: text.to_owned(), expected });
        None
    }

    /// Notes that the weight of a timed transition has no effect.
    fn note_weight(&self, notes: &mut Notes<'_>) {
        if let Some(weight) = self.weight.as_ref().filter(|weight| weight.value.parse() != Ok(1.0)) {
            notes.odd(weight.span.clone(), Oddity::Preselection, || {
                "weights of timed transitions are ignored: pm4py chooses by weight before delays start, tailspn lets the delays race"
                    .to_owned()
            });
        }
    }
}
