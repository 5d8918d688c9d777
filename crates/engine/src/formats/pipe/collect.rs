//! First pass over a file: reads every part as written.

use crate::formats::pipe::instructions::{Instructions, is_own, own_part};
use crate::formats::pipe::notes::Notes;
use crate::formats::pipe::options::{ReadOptions, Reading};
use crate::formats::pipe::problem::{Fault, Oddity};
use crate::formats::pipe::raw::{RawArc, RawNet, RawNode, RawParameter, RawPlace, RawReference, RawTransition};
use crate::formats::pipe::values::{What, angle, boolean, drawn, label_offset, point, position};
use crate::formats::pipe::xml::{Element, INSTRUCTION, Item, Text};
use crate::net::{Annotation, PathPoint, Point, StateGroup, TokenClass};

/// Collects the items of a stream in a [`RawNet`].
#[derive(Debug)]
pub(super) struct Collector<'n, 'o, 't> {
    pub(super) net: RawNet<'t>,
    pub(super) notes: &'n mut Notes<'t>,
    pub(super) options: &'o ReadOptions,
    /// Names of the open containers.
    pub(super) open: Vec<&'static str>,
}

impl<'n, 'o, 't> Collector<'n, 'o, 't> {
    pub(super) fn new(notes: &'n mut Notes<'t>, options: &'o ReadOptions) -> Self {
        Self { net: RawNet::default(), notes, options, open: Vec::new() }
    }

    pub(super) fn visit(&mut self, item: Item<'_, 't>) {
        match item {
            Item::Open(element) => self.open(element),
            Item::Close => {
                self.open.pop();
            }
            Item::Part(element) => self.part(element),
        }
    }

    fn open(&mut self, element: Element<'_, 't>) {
        let known = match element.name() {
            "net" => "net",
            "pnml" => "pnml",
            _ => "page",
        };
        self.open.push(known);
        match known {
            "pnml" => {
                if let Some(namespace) = element.attribute("xmlns") {
                    self.net.traces.pnml_2009 = namespace.value.contains("pnml.org/version-2009");
                }
            }
            "net" => self.open_net(element),
            _ => {}
        }
    }

    fn open_net(&mut self, element: Element<'_, 't>) {
        self.net.nets += 1;
        self.open_component(element);
        if self.net.nets > 1 && self.net.traces.tapaal {
            return;
        }
        if self.net.nets > 1 {
            let all = self.options.several_nets == Reading::Pipe43;
            self.notes.odd(element.span(), Oddity::SeveralNets, || {
                let taken = if all { "all nets are merged, as PIPE 4.3 does" } else { "only the first is read" };
                format!("the file has more than one net; {taken} (option `several_nets`)")
            });
            return;
        }
        let (id, kind) = (element.attribute("id"), element.attribute("type"));
        self.net.traces.bare_net = id.is_none() && kind.is_none();
        if let Some(id) = id.filter(|id| id.value != DEFAULT_NET_ID) {
            self.net.name = id.value.into_owned();
        }
        if let Some(kind) = kind {
            self.net_type(kind);
        }
    }

    fn part(&mut self, element: Element<'_, 't>) {
        if !self.open.contains(&"net") {
            self.network(element);
            return;
        }
        let tapaal = self.net.traces.tapaal;
        if self.net.nets > 1 && self.options.several_nets != Reading::Pipe43 && !tapaal {
            return;
        }
        let instructions =
            if element.name() == INSTRUCTION { Instructions::alone(element) } else { Instructions::of(element) };
        instructions.note_unknown(self.notes);
        if instructions.skips() || self.net.tapaal.skipping || self.timed_arc_part(element) {
            return;
        }
        match element.name() {
            "place" => self.place(element),
            "transition" => self.transition(element),
            "arc" => self.arc(element),
            "token" | "tokenclass" => self.class(element),
            "definition" => self.parameter(element),
            "labels" => self.annotation(element),
            "stategroup" => self.state_group(element),
            "referencePlace" => self.reference(element, "place"),
            "referenceTransition" => self.reference(element, "transition"),
            "finalmarkings" => self.final_markings(element),
            "variables" => self.refuse(element.span(), "the net declares data variables".to_owned(), "data Petri nets"),
            "name" => {
                if let Some(name) = element.value().filter(|_| self.open.last() == Some(&"net")) {
                    self.net.name = name.value.into_owned();
                }
            }
            INSTRUCTION => self.instruction(element),
            "toolspecific" if is_own(element) => element.children().for_each(|child| self.part(child)),
            "toolspecific" if element.attribute("tool").is_some_and(|tool| tool.value == "StochasticPetriNet") => {
                self.process_net(element);
            }
            "graphics" | "toolspecific" => {}
            name => self.foreign(element, name, "the net"),
        }
    }

    fn instruction(&mut self, element: Element<'_, 't>) {
        let instructions = Instructions::alone(element);
        if let Some(name) = instructions.get("net-name") {
            self.net.name = name.value.clone().into_owned();
        }
        let part = |key| element.attribute(key);
        if let (Some(source), Some(target)) = (part("source"), part("target")) {
            let tagged = part("tagged").is_some();
            let (id, kind, path) = (part("arc"), part("kind"), instructions.path(self.notes).unwrap_or_default());
            let tag = element.span();
            let kind = special(kind);
            self.net.arcs.push(RawArc { id, tag, source, target, kind, weight: None, path, tagged, instructions });
        } else if let Some(name) = part("parameter") {
            let by_position = part("value-by-position");
            let at = instructions.point(self.notes, "position").flatten();
            if let Some(value) = by_position.clone().or_else(|| part("value")) {
                let by_position = by_position.is_some();
                let parameter = RawParameter { name, id: None, value, by_position, position: at };
                self.net.parameters.push(parameter);
            }
        } else if let Some(id) = part("group") {
            let texts = |key: &'static str| {
                element.attributes().filter(move |(k, _)| k.starts_with(key)).map(|(_, v)| v.value.clone().into_owned())
            };
            let name = texts("name").next().unwrap_or_default();
            let conditions = texts("condition").collect();
            self.net.groups.push(StateGroup { id: id.value.into_owned(), name, conditions });
        }
    }

    /// The node of a place or transition; `None` if it has no id.
    fn node(&mut self, element: Element<'_, 't>, kind: &'static str) -> Option<RawNode<'t>> {
        let name = element.child_value("name");
        let id = element.attribute("id").filter(|id| !id.value.is_empty());
        let Some(id) = id.or_else(|| name.clone()).filter(|id| !id.value.is_empty()) else {
            self.notes.fault(element.span(), Fault::MissingId { kind });
            return None;
        };
        let instructions = Instructions::of(element);
        let id = match instructions.get("id") {
            Some(own) => {
                self.net.renamed.insert(id.value.into_owned(), own.clone());
                own.clone()
            }
            None => id,
        };
        let name = instructions.get("name").or(name.as_ref());
        // a name that only repeats the id does not count
        let name = name.filter(|name| name.value != id.value).map(|name| name.value.clone());
        let position = instructions.point(self.notes, "position").unwrap_or_else(|| position(element));
        let offset = instructions.point(self.notes, "name-offset").unwrap_or_else(|| Some(label_offset(element)));
        Some(RawNode {
            id,
            tag: element.span(),
            name: name.unwrap_or_default(),
            position,
            label_offset: offset.unwrap_or_default(),
            instructions,
        })
    }

    fn place(&mut self, element: Element<'_, 't>) {
        self.net.instructed |= element.child(INSTRUCTION).is_some();
        let Some(node) = self.node(element, "place") else { return };
        for child in element.children() {
            match child.name() {
                "graphics" | "name" | "initialMarking" | "capacity" | "toolspecific" | "tagged" | INSTRUCTION => {}
                "toolspecificplace" => self.hierarchy(child),
                "hlinitialMarking" => self.coloured(child, "place", &node.id),
                name => self.high_level_or_foreign(child, name, "a place"),
            }
        }
        let filled = |text: &Text<'_>| !text.value.is_empty();
        let marking = element.child("initialMarking").and_then(|marking| self.written(marking, "place", &node.id));
        let marking = marking.filter(filled);
        let capacity = own_value(element, "capacity").filter(filled);
        self.net.traces.plain_marking |= marking.as_ref().is_some_and(|m| !m.value.contains(','));
        self.net.traces.storm |= capacity.as_ref().is_some_and(|c| c.value.contains(','));
        self.net.places.push(RawPlace { node, marking, capacity });
    }

    fn transition(&mut self, element: Element<'_, 't>) {
        self.net.instructed |= element.child(INSTRUCTION).is_some();
        let Some(node) = self.node(element, "transition") else { return };
        let what = |value| What { value, part: "transition", id: &node.id.value };
        let mut fixed_delay = None;
        let mut rate_definition = None;
        let mut tool = None;
        self.guard(element, &node.id);
        for child in element.children() {
            match child.name() {
                "rate" | "timed" | "infiniteServer" | "priority" => self.net.traces.pipe_timing = true,
                "graphics" | "name" | "orientation" | "guard" | INSTRUCTION => {}
                "delay" => self.time_interval(child, &node.id),
                "toolspecific" => {
                    tool = tool.or_else(|| self.pnml_tool(child).map(Box::new));
                    rate_definition = rate_definition.or_else(|| child.attribute("rateDefinition"));
                    self.net.traces.jarp |= child.attribute("tool").is_some_and(|t| t.value == "JARP");
                    if child.attribute("externalClass").is_some() {
                        self.hierarchy(child);
                    }
                }
                "deterministic" => {
                    if child.value().is_some_and(|v| v.value == "true") {
                        fixed_delay = element.child_value("delay");
                    }
                }
                name => self.high_level_or_foreign(child, name, "a transition"),
            }
        }
        let reading = self.options.odd_boolean;
        let mut truth = |key: &str, value| {
            let text = own_value(element, key)?;
            boolean(self.notes, reading, what(value), &text)
        };
        let (timed, infinite_server) =
            (truth("timed", "`timed` of "), truth("infiniteServer", "`infiniteServer` of ").unwrap_or(false));
        let orientation = own_value(element, "orientation");
        let orientation = orientation.map_or(0, |text| angle(self.notes, what("`orientation` of "), &text));
        let filled = |text: &Text<'_>| !text.value.is_empty();
        self.net.transitions.push(RawTransition {
            orientation,
            rate: own_value(element, "rate").filter(filled),
            rate_definition: rate_definition.filter(filled),
            timed,
            infinite_server,
            priority: own_value(element, "priority").filter(filled),
            fixed_delay,
            guard: element.child_value("guard").filter(filled),
            tool,
            node,
        });
    }

    fn arc(&mut self, element: Element<'_, 't>) {
        let id = element.attribute("id").filter(|id| !id.value.is_empty());
        let ends = (element.attribute("source"), element.attribute("target"));
        let renamed = |end: Text<'t>| self.net.renamed.get(&*end.value).cloned().unwrap_or(end);
        let ends = (ends.0.map(renamed), ends.1.map(renamed));
        let (Some(source), Some(target)) = ends else {
            let arc = id.map_or_else(|| "?".to_owned(), |id| id.value.into_owned());
            let end = if ends.0.is_none() { "source" } else { "target" };
            self.notes.fault(element.span(), Fault::UnknownNode { arc, end, id: String::new() });
            return;
        };
        let mut path = Vec::new();
        let own = own_part(element).into_iter().flat_map(Element::children);
        for child in element.children().chain(own) {
            match child.name() {
                "arcpath" => {
                    let curved = child.attribute("curvePoint").is_some_and(|c| c.value == "true");
                    path.extend(point(child).map(|point| PathPoint { point, curved }));
                }
                "graphics" | "inscription" | "tagged" | "type" | "arctype" | "name" | INSTRUCTION => {}
                "toolspecific" => {
                    self.pnml_tool(child);
                }
                "hlinscription" => self.coloured(child, "arc", &id.clone().unwrap_or_else(|| source.clone())),
                name => self.high_level_or_foreign(child, name, "an arc"),
            }
        }
        let reading = self.options.odd_boolean;
        let name = id.as_ref().map_or("", |id| &*id.value);
        let tagged = element
            .child_value("tagged")
            .and_then(|t| boolean(self.notes, reading, What { value: "`tagged` of ", part: "arc", id: name }, &t));
        let kind = element.child("type").or_else(|| element.child("arctype"));
        let kind = kind.and_then(|kind| kind.attribute("value").or_else(|| kind.value()));
        self.net.traces.storm |= kind.as_ref().is_some_and(|kind| kind.value == "inhibition");
        let instructions = Instructions::of(element);
        let path = instructions.path(self.notes).unwrap_or(path);
        let id = instructions.get("id").cloned().or(id);
        let label = id.clone().unwrap_or_else(|| source.clone());
        let weight = element.child("inscription").and_then(|inscription| self.written(inscription, "arc", &label));
        self.net.arcs.push(RawArc {
            id,
            tag: element.span(),
            source,
            target,
            kind: special(kind),
            weight,
            path,
            tagged: tagged.unwrap_or(false) || instructions.get("tagged").is_some(),
            instructions,
        });
    }

    fn class(&mut self, element: Element<'_, 't>) {
        let Some(id) = element.attribute("id") else {
            self.notes.fault(element.span(), Fault::MissingId { kind: "token class" });
            return;
        };
        self.net.traces.tokenclass |= element.name() == "tokenclass";
        let enabled = element.attribute("enabled");
        self.net.traces.token_without_enabled |= enabled.is_none();
        self.net.traces.token = true;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to a byte")]
        let shade = |key| drawn(element.attribute(key).as_ref()).unwrap_or(0.0).clamp(0.0, 255.0) as u8;
        // PIPE 5 leaves `enabled` out
        let enabled = enabled.is_none_or(|e| e.value == "true");
        let class =
            TokenClass { id: id.value.into_owned(), enabled, colour: [shade("red"), shade("green"), shade("blue")] };
        self.net.classes.push((class, id.span));
    }

    fn parameter(&mut self, element: Element<'_, 't>) {
        let (id, name) = (element.attribute("id"), element.attribute("name"));
        let Some(name) = name.or_else(|| id.clone()) else {
            self.notes.fault(element.span(), Fault::MissingId { kind: "rate parameter" });
            return;
        };
        let empty = Text { value: "".into(), span: element.span() };
        let value = element.attribute("expression").map_or(empty, Text::trimmed);
        let exact = Instructions::of(element).point(self.notes, "position");
        let position = exact.unwrap_or_else(|| position(element));
        self.net.parameters.push(RawParameter { name, id, value, by_position: false, position });
    }

    fn annotation(&mut self, element: Element<'_, 't>) {
        let instructions = Instructions::of(element);
        let number = |key| drawn(element.attribute(key).as_ref()).unwrap_or(0.0);
        let mut exact = |key| instructions.point(self.notes, key).flatten();
        let position = exact("position").unwrap_or(Point { x: number("x"), y: number("y") });
        let size = exact("size").unwrap_or(Point { x: number("width"), y: number("height") });
        let text = element.child("text").and_then(Element::text);
        self.net.annotations.push(Annotation {
            position,
            size,
            border: element.attribute("border").is_none_or(|b| b.value == "true"),
            text: text.map(|t| t.value.into_owned()).unwrap_or_default(),
        });
    }

    fn state_group(&mut self, element: Element<'_, 't>) {
        let id = element.attribute("id").map(|t| t.value.into_owned()).unwrap_or_default();
        let name = element.child_value("name").map(|t| t.value.into_owned()).unwrap_or_default();
        let conditions = element.children().filter(|c| c.name() == "statecondition").filter_map(Element::value);
        let conditions = conditions.map(|t| t.value.into_owned()).collect();
        self.net.groups.push(StateGroup { id, name, conditions });
    }

    fn reference(&mut self, element: Element<'_, 't>, kind: &'static str) {
        match (element.attribute("id"), element.attribute("ref")) {
            (Some(id), Some(target)) => self.net.references.push(RawReference { id, target, kind }),
            _ => self.notes.fault(element.span(), Fault::MissingId { kind: "reference node" }),
        }
    }

    fn hierarchy(&mut self, element: Element<'_, 't>) {
        self.net.traces.hierarchical = true;
        self.notes.odd(element.span(), Oddity::Hierarchy, || {
            "interface marks of hierarchical nets and external transitions are ignored; their elements are read as ordinary elements"
                .to_owned()
        });
    }

    fn high_level_or_foreign(&mut self, element: Element<'_, 't>, name: &str, what: &str) {
        if !matches!(name, "DataType" | "Datatype-group" | "abtoken" | "formula") {
            self.foreign(element, name, what);
            return;
        }
        self.net.traces.high_level = true;
        self.notes.odd(element.span(), Oddity::HighLevel, || {
            "this is a high-level net: only its places, transitions and arcs are read, not its formulas, data types and data tokens"
                .to_owned()
        });
    }

    fn foreign(&mut self, element: Element<'_, 't>, name: &str, what: &str) {
        self.notes.odd(element.span(), Oddity::ForeignElement, || {
            format!("`<{name}>` in {what} has no meaning here; ignored")
        });
    }
}

/// The kind of an arc, unless it is written as an ordinary arc.
fn special(kind: Option<Text<'_>>) -> Option<Box<Text<'_>>> {
    kind.filter(|kind| kind.value != "normal").map(Box::new)
}

/// The value of a child element, or of a child of the element's part for tailspn.
fn own_value<'t>(element: Element<'_, 't>, name: &str) -> Option<Text<'t>> {
    element.child_value(name).or_else(|| own_part(element)?.child_value(name))
}

/// The id of every net that PIPE 4.3 writes.
pub(super) const DEFAULT_NET_ID: &str = "Net-One";
