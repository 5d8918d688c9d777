//! Second pass: classes, places, parameters and transitions of a [`RawNet`] become parts of a net.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::formats::pipe::names::NameTable;
use crate::formats::pipe::notes::Notes;
use crate::formats::pipe::options::{ReadOptions, Reading};
use crate::formats::pipe::problem::{Fault, Oddity};
use crate::formats::pipe::raw::{ProcessWriter, RawNet, RawNode, RawParameter, RawPlace, RawTransition, ToolTiming};
use crate::formats::pipe::spans::Spans;
use crate::formats::pipe::values::{Entry, What, class_list, count, inside};
use crate::formats::pipe::xml::Text;
use crate::net::expr::{Expr, Leaf, Names};
use crate::net::{
    BuildProblem, ClassId, Delay, Law, Net, NetBuilder, Parameter, PartRef, Place, PlaceId, Servers, Timing,
    TokenClass, Transition, TransitionId,
};

/// The node or nodes with an id; a sloppy file may use one id for both.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    pub(super) place: Option<PlaceId>,
    pub(super) transition: Option<TransitionId>,
}

/// A net under construction.
#[derive(Debug)]
pub(super) struct Assembler<'n, 'o, 't> {
    pub(super) builder: NetBuilder,
    pub(super) notes: &'n mut Notes<'t>,
    pub(super) options: &'o ReadOptions,
    /// Names of places (if they differ from the ids), classes and parameters.
    pub(super) names: NameTable,
    /// Places by id and name in lower case without blanks; `None` if several are equal. Built when a name was not found as
    /// written.
    pub(super) folded: OnceCell<HashMap<String, Option<PlaceId>>>,
    /// True if a place was found only by its folded name.
    pub(super) used_fold: Cell<bool>,
    /// Names that are the id of one place and the name of another.
    pub(super) ambiguous: HashSet<String>,
    /// Reference nodes of PNML.
    pub(super) references: HashMap<Cow<'t, str>, Node>,
    /// Ids of nodes that are not in the builder, because of a fault that was noted.
    pub(super) refused: HashSet<Cow<'t, str>>,
    /// Ids of the classes.
    pub(super) class_ids: Vec<String>,
    /// Ids of classes that contain `,`, `(` or `)`, which would otherwise split a list of classes.
    pub(super) odd_class_ids: Vec<String>,
    /// Position of each part in the file.
    pub(super) spans: Spans,
    pub(super) untimed: bool,
    pub(super) tapaal: bool,
    /// The tool that wrote the distributions.
    writer: ProcessWriter,
    /// True if transitions have values of DICE, and ids of transitions that compete for the tokens of a place.
    is_dice: bool,
    competing: HashSet<String>,
    /// True if transitions have numbers of another tool that are not read.
    has_unread_tool: bool,
}

/// Ids of the transitions that share an input place with another one; none unless the file is of DICE.
fn competing(raw: &RawNet<'_>) -> HashSet<String> {
    let mut takers: HashMap<&str, Vec<&str>> = HashMap::new();
    for arc in raw.arcs.iter().filter(|_| raw.traces.dice) {
        takers.entry(&arc.source.value).or_default().push(&arc.target.value);
    }
    takers.into_values().filter(|ids| ids.len() > 1).flatten().map(str::to_owned).collect()
}

impl<'n, 'o, 't> Assembler<'n, 'o, 't> {
    pub(super) fn new(raw: &RawNet<'_>, notes: &'n mut Notes<'t>, options: &'o ReadOptions) -> Self {
        Self {
            builder: NetBuilder::without_classes(raw.name.clone()),
            notes,
            options,
            names: NameTable::default(),
            folded: OnceCell::new(),
            used_fold: Cell::new(false),
            ambiguous: HashSet::new(),
            references: HashMap::new(),
            refused: HashSet::new(),
            class_ids: Vec::new(),
            odd_class_ids: Vec::new(),
            spans: Spans::default(),
            untimed: raw.traces.untimed(),
            tapaal: raw.traces.tapaal,
            writer: raw.writer,
            is_dice: raw.traces.dice,
            competing: competing(raw),
            has_unread_tool: raw.traces.unread_tool,
        }
    }

    /// Adds all parts except the arcs. Parts of the file that are not needed again are dropped, because they take as much
    /// memory as the net.
    pub(super) fn nodes(&mut self, raw: &mut RawNet<'t>) {
        self.classes(std::mem::take(&mut raw.classes));
        std::mem::take(&mut raw.places).iter().for_each(|place| self.place(place));
        self.place_names();
        raw.parameters.iter().for_each(|parameter| self.parameter(parameter));
        let transitions = std::mem::take(&mut raw.transitions);
        self.note_missing_priorities(&transitions);
        transitions.iter().for_each(|transition| self.transition(transition));
        self.notes_and_groups(raw);
    }

    /// Adds the token classes, at least one.
    pub(super) fn classes(&mut self, classes: Vec<(TokenClass, Range<usize>)>) {
        for (class, span) in classes {
            self.class(class, span);
        }
        if self.class_ids.is_empty() {
            self.class(TokenClass::default_class(), 0..0);
        }
    }

    /// Adds the annotations and the state groups.
    pub(super) fn notes_and_groups(&mut self, raw: &mut RawNet<'t>) {
        std::mem::take(&mut raw.annotations).into_iter().for_each(|one| self.builder.add_annotation(one));
        std::mem::take(&mut raw.groups).into_iter().for_each(|group| self.builder.add_state_group(group));
    }

    /// The node or nodes of this id.
    pub(super) fn node(&self, id: &str) -> Option<Node> {
        let added = || Node { place: self.builder.find_place(id), transition: self.builder.find_transition(id) };
        let node = self.references.get(id).copied().unwrap_or_else(added);
        (node.place.is_some() || node.transition.is_some()).then_some(node)
    }

    fn class(&mut self, class: TokenClass, span: Range<usize>) {
        if self.names.class(&class.id).is_some() {
            let fault =
                Fault::DuplicateId { kind: "token class", id: class.id, first_line: self.notes.line(span.start) };
            self.notes.fault(span, fault);
            return;
        }
        self.add_class(class);
    }

    fn add_class(&mut self, class: TokenClass) -> ClassId {
        self.class_ids.push(class.id.clone());
        if class.id.contains([',', '(', ')']) {
            self.odd_class_ids.push(class.id.clone());
        }
        let name = class.id.clone();
        let id = self.builder.add_class(class);
        self.names.add_class(&name, id);
        id
    }

    /// The class of tokens that a number without a class refers to.
    pub(super) fn plain_class(&mut self, span: &Range<usize>) -> ClassId {
        let first = ClassId::from_index(0);
        let default = self.names.class("Default");
        if self.options.plain_number == Reading::Pipe43 || default.is_none() {
            return first;
        }
        if default != Some(first) {
            self.notes.odd(span.clone(), Oddity::PlainNumber, || {
                "a number without a token class means `Default`, as in PIPE 5; PIPE 4.3 uses the first class (option `plain_number`)"
                    .to_owned()
            });
        }
        default.unwrap_or(first)
    }

    /// The class of this name; if it is not declared, its use declares it.
    pub(super) fn used_class(&mut self, name: &str, what: What<'_>, span: Range<usize>) -> Option<ClassId> {
        if let Some(id) = self.names.class(name) {
            return Some(id);
        }
        if self.options.undeclared_class == Reading::Pipe43 || name.is_empty() {
            let fault = Fault::UndeclaredClass { what: what.to_string(), class: name.to_owned() };
            self.notes.fault(span, fault);
            return None;
        }
        self.notes.odd(span, Oddity::UndeclaredClass, || {
            format!("token class `{name}` is not declared; it is added, whereas PIPE 4.3 stops reading here (option `undeclared_class`)")
        });
        Some(self.add_class(TokenClass { id: name.to_owned(), enabled: true, colour: [0; 3] }))
    }

    pub(super) fn place(&mut self, raw: &RawPlace<'t>) {
        let id = &*raw.node.id.value;
        let what = |value| What { value, part: "place", id };
        let marking = match raw.node.instructions.get("marking-by-position") {
            Some(text) => self.marking_by_position(text, what("the marking of ")),
            None => self.marking(raw.marking.as_ref(), what("the marking of ")),
        };
        let capacity = raw.node.instructions.get("capacity").or(raw.capacity.as_ref());
        let from_instruction = raw.node.instructions.get("capacity").is_some();
        let capacity = capacity.and_then(|text| count(self.notes, what("the capacity of "), &of_one_class(text)));
        let place = Place {
            id: id.to_owned(),
            name: raw.node.name.clone().into_owned(),
            initial: marking,
            capacity: capacity.filter(|c| *c > 0 || from_instruction),
            position: raw.node.position,
            label_offset: raw.node.label_offset,
        };
        if let Some(first) = self.builder.find_place(id) {
            self.duplicate("place", &raw.node, self.spans.of(PartRef::Place(first)).start);
        }
        self.builder.add_place(place);
        self.spans.places.push(raw.node.tag.clone());
    }

    fn duplicate(&mut self, kind: &'static str, node: &RawNode<'t>, first: usize) {
        let id = node.id.value.clone().into_owned();
        let first_line = self.notes.line(first);
        self.notes.fault(node.id.span.clone(), Fault::DuplicateId { kind, id, first_line });
    }

    /// Makes the names of the places known to expressions.
    pub(super) fn place_names(&mut self) {
        for (i, place) in self.builder.places().iter().enumerate() {
            if place.name.is_empty() || place.name == place.id {
                continue;
            }
            if self.builder.find_place(&place.name).is_some() {
                self.ambiguous.insert(place.name.clone());
            } else {
                self.names.add_place(&place.name, PlaceId::from_index(i));
            }
        }
    }

    fn marking(&mut self, text: Option<&Text<'t>>, what: What<'_>) -> Vec<u32> {
        let Some(text) = text else { return Vec::new() };
        let mut initial = vec![0; self.class_ids.len()];
        for entry in class_list(&text.value, &self.odd_class_ids) {
            let class = match entry.class {
                Some(range) => self.used_class(&text.value[range.clone()], what, inside(text, range)),
                None => Some(self.plain_class(&text.span)),
            };
            let number = Text { value: text.value[entry.value.clone()].into(), span: inside(text, entry.value) };
            let Some((class, tokens)) = class.zip(count(self.notes, what, &number)) else { continue };
            if class.index() >= initial.len() {
                initial.resize(class.index() + 1, 0);
            }
            initial[class.index()] = tokens;
        }
        initial
    }

    fn marking_by_position(&mut self, text: &Text<'t>, what: What<'_>) -> Vec<u32> {
        let words = text.value.split_whitespace().take(self.class_ids.len());
        let counts = words.map(|word| Text { value: word.into(), span: text.span.clone() });
        counts.filter_map(|word| count(self.notes, what, &word)).collect()
    }

    pub(super) fn parameter(&mut self, raw: &RawParameter<'t>) {
        let what = What { value: "", part: "rate parameter", id: &raw.name.value };
        let value = if raw.by_position {
            self.positional(&raw.value).map_err(|error| self.bad_expression(what, &raw.value, &error)).ok()
        } else {
            self.number_or_expression(what, &raw.value)
        };
        let Some(value) = value else { return };
        let parameter = Parameter { name: raw.name.value.clone().into_owned(), value, position: raw.position };
        let id = self.builder.add_parameter(parameter);
        self.spans.parameters.push(raw.name.span.clone());
        self.names.add_parameter(&raw.name.value, id);
        if let Some(other) = &raw.id {
            self.names.add_parameter(&other.value, id);
        }
    }

    /// Notes immediate transitions if only some have a priority: PIPE 4.3 and PIPE 5 differ.
    fn note_missing_priorities(&mut self, transitions: &[RawTransition<'t>]) {
        let immediate = || transitions.iter().filter(|t| t.timed != Some(true));
        let without: Vec<_> = immediate().filter(|t| t.priority.is_none()).collect();
        if without.len() == immediate().count() {
            return;
        }
        let value = self.default_priority();
        for transition in without {
            self.notes.odd(transition.node.tag.clone(), Oddity::MissingPriority, || {
                format!(
                    "immediate transition `{}` has no priority (1 in PIPE 4.3, 0 in PIPE 5); the priority is read as {value} (option `missing_priority`)",
                    transition.node.id.value
                )
            });
        }
    }

    fn default_priority(&self) -> u32 {
        if self.options.missing_priority == Reading::Pipe5 { 0 } else { 1 }
    }

    pub(super) fn transition(&mut self, raw: &RawTransition<'t>) {
        let id = &*raw.node.id.value;
        let Some(timing) = self.timing(raw, id) else {
            self.refused.insert(raw.node.id.value.clone());
            return;
        };
        let immediate = matches!(timing, Timing::Immediate { .. });
        let transition = Transition {
            id: id.to_owned(),
            name: raw.node.name.clone().into_owned(),
            timing,
            position: raw.node.position,
            orientation: raw.orientation,
            label_offset: raw.node.label_offset,
            unused_priority: if immediate { None } else { self.unused_priority(raw) },
        };
        let known = self.builder.find_transition(id);
        let added = self.builder.add_transition(transition);
        self.guard(raw, added);
        self.spans.transitions.push(raw.node.tag.clone());
        if let Some(first) = known {
            self.duplicate("transition", &raw.node, self.spans.of(PartRef::Transition(first)).start);
        } else if self.builder.find_place(id).is_some() {
            self.notes.odd(raw.node.id.span.clone(), Oddity::SharedId, || {
                format!("`{id}` is both a place and a transition; PIPE 4.3 connects every arc to the place, but tailspn chooses by the arc's other end")
            });
        }
    }

    /// Adds the condition under which a transition may fire.
    fn guard(&mut self, raw: &RawTransition<'t>, transition: TransitionId) {
        let Some(text) = &raw.guard else { return };
        let what = What { value: "the guard of ", part: "transition", id: &raw.node.id.value };
        let Some(condition) = self.number_or_expression(what, text) else { return };
        if let Err(error) = self.builder.guard(transition, condition) {
            self.notes.fault(text.span.clone(), Fault::Guard(error));
        }
    }

    fn unused_priority(&mut self, raw: &RawTransition<'t>) -> Option<u32> {
        if let Some(text) = raw.node.instructions.get("priority") {
            return count(
                self.notes,
                What { value: "the priority of ", part: "transition", id: &raw.node.id.value },
                text,
            );
        }
        // PIPE writes the priority 1 for every transition
        let text = raw.priority.as_ref().filter(|text| text.value != "1")?;
        let value = text.value.parse::<f64>().ok()?;
        let kept = text.value.parse().ok();
        if kept.is_none() {
            self.notes.odd(text.span.clone(), Oddity::TimedPriority, || {
                format!("priority {value} of timed transition `{}` has no effect; ignored", raw.node.id.value)
            });
        }
        kept
    }

    fn timing(&mut self, raw: &RawTransition<'t>, id: &str) -> Option<Timing> {
        if let Some(delay) = &raw.fixed_delay {
            return self.fixed_delay(raw, delay);
        }
        match raw.tool.as_deref() {
            Some(ToolTiming::Stochastic(stochastic)) => {
                let priority = self.default_priority();
                return stochastic.timing(self.notes, id, priority, self.writer);
            }
            Some(ToolTiming::Dice(value)) => return self.dice(raw, value),
            None if self.is_dice => return Some(Timing::immediate(1.0, self.default_priority())),
            None => {}
        }
        let law = raw.node.instructions.law(self.notes);
        // if there is a distribution, the rate is only an approximation for PIPE, and `timed` is false for a delay of 0
        let rate = if law.is_some() { Expr::Number(1.0) } else { self.rate(raw, id)? };
        if self.untimed && raw.timed.is_none() && raw.rate.is_none() {
            self.notes.odd(raw.node.tag.clone(), Oddity::Untimed, || {
                let what = if self.has_unread_tool {
                    "the file has no times that tailspn reads"
                } else {
                    "the file has no times"
                };
                format!("{what}; transitions are read as exponential with rate 1")
            });
        } else if raw.timed != Some(true) && law.is_none() {
            if raw.infinite_server {
                self.notes.odd(raw.node.tag.clone(), Oddity::ImmediateServers, || {
                    format!("infinite servers of immediate transition `{id}` have no effect; ignored")
                });
            }
            let text = raw.priority.as_ref();
            let what = What { value: "the priority of ", part: "transition", id };
            let priority = text.map_or(Some(self.default_priority()), |text| count(self.notes, what, text));
            return Some(Timing::Immediate { weight: rate, priority: priority? });
        }
        let instructions = &raw.node.instructions;
        let delay = law.map_or(Delay::Exponential { rate }, Delay::General);
        let plain = if raw.infinite_server { Servers::Infinite } else { Servers::Single };
        let servers = instructions.servers(self.notes)?.unwrap_or(plain);
        let memory = instructions.memory(self.notes)?;
        Some(Timing::Timed { delay, servers, memory })
    }

    /// The timing with a value of DICE: a weight if the transition competes with others, otherwise a rate.
    fn dice(&mut self, raw: &RawTransition<'t>, value: &Text<'t>) -> Option<Timing> {
        self.notes.odd(raw.node.tag.clone(), Oddity::Dice, || {
            "values of DICE are read as weights of immediate transitions that share a place, otherwise as rates [1/s]; transitions without a value are immediate".to_owned()
        });
        match value.value.trim().parse() {
            Ok(weight) if self.competing.contains(&*raw.node.id.value) => {
                Some(Timing::immediate(weight, self.default_priority()))
            }
            Ok(rate) => Some(Timing::exponential(rate)),
            Err(_) => {
                let what = format!("the value of transition `{}`", raw.node.id.value);
                let text = value.value.clone().into_owned();
                self.notes.fault(value.span.clone(), Fault::BadNumber { what, text, expected: "a number" });
                None
            }
        }
    }

    fn fixed_delay(&mut self, raw: &RawTransition<'t>, delay: &Text<'t>) -> Option<Timing> {
        let Ok(value) = delay.value.parse() else {
            let what = format!("the delay of transition `{}`", raw.node.id.value);
            let text = delay.value.clone().into_owned();
            self.notes.fault(delay.span.clone(), Fault::BadNumber { what, text, expected: "a number" });
            return None;
        };
        self.notes.odd(delay.span.clone(), Oddity::FixedDelay, || {
            format!("transition `{}` has a fixed delay, an extension that PIPE does not support", raw.node.id.value)
        });
        Some(Timing::general(Law::Deterministic { delay: value }))
    }

    /// The rate of a timed transition, or the weight of an immediate one.
    fn rate(&mut self, raw: &RawTransition<'t>, id: &str) -> Option<Expr> {
        let word = if raw.timed == Some(true) { "the rate of " } else { "the weight of " };
        let what = What { value: word, part: "transition", id };
        if let Some(text) = raw.node.instructions.get("rate-by-position") {
            let rate = self.positional(text);
            return rate.map_err(|error| self.bad_expression(what, text, &error)).ok();
        }
        if let Some(text) = raw.node.instructions.get("rate") {
            return self.number_or_expression(what, text);
        }
        if let Some(name) = &raw.rate_definition {
            if let Some(parameter) = self.names.parameter(&name.value) {
                return Some(Expr::Leaf(Leaf::Parameter(parameter)));
            }
            self.notes.odd(name.span.clone(), Oddity::UnknownParameter, || {
                format!(
                    "{what} is given by rate parameter `{}`, which does not exist; `<rate>` is used instead",
                    name.value
                )
            });
        }
        match &raw.rate {
            Some(text) => self.number_or_expression(what, text),
            None => {
                if !self.untimed {
                    self.notes
                        .odd(raw.node.tag.clone(), Oddity::MissingRate, || format!("{what} is missing; 1 is used"));
                }
                Some(Expr::Number(1.0))
            }
        }
    }

    /// The net, or its problems in the notes.
    pub(super) fn build(self) -> Option<Net> {
        match self.builder.build() {
            Ok(net) => Some(net),
            Err(problems) => {
                for problem in problems {
                    let span = self.spans.of(problem.part());
                    // duplicates were noted with both of their lines
                    if !matches!(problem, BuildProblem::DuplicateId { kind: "place" | "transition", .. }) {
                        self.notes.fault(span, Fault::Build(problem));
                    }
                }
                None
            }
        }
    }
}

/// The number in `Default,3`, as Storm writes a capacity; any other text unchanged.
fn of_one_class<'t>(text: &Text<'t>) -> Text<'t> {
    match &*class_list(&text.value, &[]) {
        [Entry { class: Some(_), value }] => {
            Text { value: text.value[value.clone()].to_owned().into(), span: inside(text, value.clone()) }
        }
        _ => text.clone(),
    }
}
