//! Writes PNML of ISO/IEC 15909-2:2011 (the grammar of 2009): a place/transition net that other tools read,
//! and all other properties in `<toolspecific tool="tailspn">`, from which tailspn reads them back.

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::formats::pipe::escape::{attribute, content};
use crate::formats::pipe::instructions::law_pairs;
use crate::formats::pipe::loss::Loss;
use crate::formats::pipe::write::{Target, WriteOptions, Writer, Written};
use crate::net::{
    Arc, ArcKind, Delay, Memory, Net, PartRef, Place, PlaceId, Point, Servers, Timing, TokenClass, Transition,
};

/// Content of an instruction.
type Pairs = Vec<(&'static str, String)>;

/// Start of the part of an element that only tailspn reads.
const OWN: &str = "<toolspecific tool=\"tailspn\" version=\"1\">";

/// Writes a net as PNML.
///
/// ```
/// use tailspn_engine::formats::pipe::{ReadOptions, read, write_pnml};
/// use tailspn_engine::net::{NetBuilder, Timing};
///
/// let mut b = NetBuilder::new("a net");
/// let p = b.place("P0", 1);
/// let t = b.transition("T0", Timing::exponential(0.5));
/// b.inhibitor(p, t, 2.0);
/// let net = b.build().unwrap();
/// let written = write_pnml(&net);
/// assert_eq!(written.warnings.len(), 1); // other tools do not see the inhibitor arc
/// assert_eq!(read(written.xml.as_bytes(), &ReadOptions::default()).unwrap().net, net);
/// ```
pub fn write_pnml(net: &Net) -> Written {
    let options = WriteOptions { target: Target::Pipe5, expand_erlang: false };
    let mut writer = Writer::new(net, options, Vec::new());
    let ids = Ids::of(net);
    writer.pnml(&ids);
    Written { xml: writer.xml, warnings: writer.warnings }
}

/// Ids of the elements: unique XML names.
struct Ids {
    places: Vec<String>,
    transitions: Vec<String>,
    arcs: Vec<String>,
}

impl Ids {
    fn of(net: &Net) -> Self {
        let own: Vec<&str> = net.places().iter().map(|p| p.id.as_str()).collect();
        let own = own.into_iter().chain(net.transitions().iter().map(|t| t.id.as_str()));
        let arcs: Vec<_> = net.arcs().iter().map(|arc| net.arc_id(arc)).collect();
        let all: HashSet<&str> = own.chain(arcs.iter().map(|id| &**id)).collect();
        let mut used: HashSet<String> = ["Net-One", "page"].map(str::to_owned).into();
        let mut named = |id: &str, letter: char, index: usize| {
            let mut name = id.to_owned();
            if !is_xml_name(id) || !used.insert(name.clone()) {
                name = format!("{letter}{index}");
                while all.contains(name.as_str()) || !used.insert(name.clone()) {
                    name.push('_');
                }
            }
            name
        };
        let places = net.places().iter().enumerate().map(|(i, p)| named(&p.id, 'p', i)).collect();
        let transitions = net.transitions().iter().enumerate().map(|(i, t)| named(&t.id, 't', i)).collect();
        let arcs = arcs.iter().enumerate().map(|(i, id)| named(id, 'a', i)).collect();
        Self { places, transitions, arcs }
    }
}

/// Returns true if a text is an ASCII XML name without a colon.
fn is_xml_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

impl Writer<'_> {
    fn pnml(&mut self, ids: &Ids) {
        let net = self.net;
        self.check_characters();
        self.xml.push_str(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<pnml xmlns=\"http://www.pnml.org/version-2009/grammar/pnml\">\n\
             <net id=\"Net-One\" type=\"http://www.pnml.org/version-2009/grammar/ptnet\">\n",
        );
        if !net.name().is_empty() {
            let _ = writeln!(self.xml, "<name><text>{}</text></name>", content(net.name()));
        }
        self.xml.push_str("<page id=\"page\">\n");
        for (i, place) in net.places().iter().enumerate() {
            self.pnml_place(PlaceId::from_index(i), place, &ids.places[i]);
        }
        for (i, transition) in net.transitions().iter().enumerate() {
            self.pnml_transition(transition, &ids.transitions[i]);
        }
        for (i, arc) in net.arcs().iter().enumerate() {
            if is_plain(arc) {
                self.pnml_arc(i, arc, ids);
            } else {
                self.own_arc(i, arc);
            }
        }
        self.own_parts();
        self.xml.push_str("</page>\n</net>\n</pnml>\n");
    }

    /// Writes the properties of the whole net that only tailspn reads.
    fn own_parts(&mut self) {
        let net = self.net;
        let start = self.xml.len();
        if net.name().trim() != net.name() {
            self.instruction(&[("net-name", net.name().to_owned())]);
        }
        if net.classes() != [TokenClass::default_class()] {
            for class in net.classes() {
                let [red, green, blue] = class.colour;
                let (id, enabled) = (attribute(&class.id), class.enabled);
                let _ = writeln!(
                    self.xml,
                    "<token id=\"{id}\" enabled=\"{enabled}\" red=\"{red}\" green=\"{green}\" blue=\"{blue}\"/>"
                );
            }
        }
        self.annotations();
        // other tools get no rates at all, so a warning about rates would be pointless
        let warnings = self.warnings.len();
        self.parameters();
        self.warnings.truncate(warnings);
        for group in net.state_groups() {
            self.group_instruction(group);
        }
        let inside = self.xml.split_off(start);
        self.own(&inside);
    }

    /// Writes an arc that place/transition nets lack, in its order among the other arcs.
    fn own_arc(&mut self, i: usize, arc: &Arc) {
        let start = self.xml.len();
        self.arc_instruction(arc);
        let inside = self.xml.split_off(start);
        self.own(&inside);
        let message = format!(
            "arc `{}` is written for tailspn only: a place/transition net of PNML has no such arc",
            self.net.arc_id(arc)
        );
        let loss = if arc.kind == ArcKind::Test { Loss::TestArc } else { Loss::Inhibitor };
        self.warn(loss, PartRef::Arc(i), message);
    }

    /// Writes the parts that only tailspn reads, if there are any.
    fn own(&mut self, inside: &str) {
        if !inside.is_empty() {
            let _ = writeln!(self.xml, "{OWN}{inside}</toolspecific>");
        }
    }

    /// The instruction with these pairs, as text.
    fn instruction_text(&mut self, pairs: &[(&'static str, String)]) -> String {
        let start = self.xml.len();
        self.instruction(pairs);
        self.xml.split_off(start)
    }

    /// Writes the common start of places and transitions; returns the content of their instructions.
    fn pnml_node(
        &mut self,
        kind: &str,
        xml_id: &str,
        id: &str,
        label: &str,
        name: &str,
        at: (Option<Point>, Point),
    ) -> Pairs {
        let mut pairs = Pairs::new();
        if xml_id != id {
            pairs.push(("id", id.to_owned()));
        }
        if label.trim() != label {
            pairs.push(("name", name.to_owned()));
        }
        let (position, offset) = at;
        let _ = write!(self.xml, "<{kind} id=\"{xml_id}\"><name>");
        if offset != Point::default() {
            let _ = write!(self.xml, "<graphics><offset x=\"{:?}\" y=\"{:?}\"/></graphics>", offset.x, offset.y);
        }
        let _ = write!(self.xml, "<text>{}</text></name>", content(label));
        if let Some(at) = position {
            let _ = write!(self.xml, "<graphics><position x=\"{:?}\" y=\"{:?}\"/></graphics>", at.x, at.y);
        }
        pairs
    }

    fn pnml_place(&mut self, id: PlaceId, place: &Place, xml_id: &str) {
        let at = (place.position, place.label_offset);
        let mut pairs = self.pnml_node("place", xml_id, &place.id, place.label(), &place.name, at);
        if place.initial_total() > 0 {
            let _ = write!(self.xml, "<initialMarking><text>{}</text></initialMarking>", place.initial_total());
        }
        if self.net.classes().len() > 1 {
            let counts: Vec<_> = place.initial.iter().map(ToString::to_string).collect();
            pairs.push(("marking-by-position", counts.join(" ")));
        }
        if let Some(capacity) = place.capacity {
            pairs.push(("capacity", capacity.to_string()));
            let message = format!("the capacity of place `{}` is written for tailspn only", place.id);
            self.warn(Loss::Capacity, PartRef::Place(id), message);
        }
        let inside = self.instruction_text(&pairs);
        self.own(&inside);
        self.xml.push_str("</place>\n");
    }

    fn pnml_transition(&mut self, transition: &Transition, xml_id: &str) {
        let at = (transition.position, transition.label_offset);
        let mut pairs = self.pnml_node("transition", xml_id, &transition.id, transition.label(), &transition.name, at);
        let mut inside = String::new();
        if transition.orientation != 0 {
            let _ = write!(inside, "<orientation><value>{}</value></orientation>", transition.orientation);
        }
        let rate = match &transition.timing {
            Timing::Immediate { weight, priority } => {
                let _ =
                    write!(inside, "<timed><value>false</value></timed><priority><value>{priority}</value></priority>");
                Some(weight)
            }
            Timing::Timed { delay, servers, memory } => {
                inside.push_str("<timed><value>true</value></timed>");
                match servers {
                    Servers::Single => {}
                    Servers::Infinite => pairs.push(("servers", "infinite".to_owned())),
                    Servers::Limited(most) => pairs.push(("servers", most.to_string())),
                }
                if *memory == Memory::Age {
                    pairs.push(("memory", "age".to_owned()));
                }
                if let Some(priority) = transition.unused_priority {
                    pairs.push(("priority", priority.to_string()));
                }
                match delay {
                    Delay::Exponential { rate } => Some(rate),
                    Delay::General(law) => {
                        pairs.extend(law_pairs(law));
                        None
                    }
                }
            }
        };
        if let Some(rate) = rate {
            let (key, text) = self.exact_text("rate", "rate-by-position", rate);
            // an element keeps such a text unchanged
            if key == "rate" && text.trim() == text {
                let _ = write!(inside, "<rate><value>{}</value></rate>", content(&text));
            } else {
                pairs.push((key, text));
            }
        }
        inside.push_str(&self.instruction_text(&pairs));
        self.own(&inside);
        self.xml.push_str("</transition>\n");
    }

    fn pnml_arc(&mut self, i: usize, arc: &Arc, ids: &Ids) {
        let place = &ids.places[arc.place.index()];
        let transition = &ids.transitions[arc.transition.index()];
        let (source, target) = if arc.kind == ArcKind::Output { (transition, place) } else { (place, transition) };
        let mut pairs = Pairs::new();
        let id = self.net.arc_id(arc);
        if ids.arcs[i] != id {
            pairs.push(("id", id.clone().into_owned()));
        }
        let numbers: Option<Vec<f64>> = arc.weights.iter().map(|weight| weight.weight.as_number()).collect();
        let total: f64 = numbers.iter().flatten().sum();
        let of_one_class = self.net.classes().len() == 1 && arc.weights.len() == 1 && numbers.is_some();
        if !of_one_class {
            pairs.push(self.exact_weights(&arc.weights));
        }
        if numbers.is_none() {
            let message = format!("the weight of arc `{id}` is an expression; other tools get 1");
            self.warn(Loss::Expression, PartRef::Arc(i), message);
        }
        if arc.tagged {
            pairs.push(("tagged", "true".to_owned()));
        }
        pairs.extend(self.from(arc));
        let weight = if numbers.is_some() { total } else { 1.0 };
        let _ = write!(
            self.xml,
            "<arc id=\"{}\" source=\"{source}\" target=\"{target}\"><inscription><text>{weight}</text></inscription>",
            ids.arcs[i]
        );
        let mut inside = String::new();
        if arc.path.len() > 2 {
            self.xml.push_str("<graphics>");
            for bend in &arc.path[1..arc.path.len() - 1] {
                let _ = write!(self.xml, "<position x=\"{:?}\" y=\"{:?}\"/>", bend.point.x, bend.point.y);
            }
            self.xml.push_str("</graphics>");
        }
        for (n, p) in arc.path.iter().enumerate() {
            let (x, y, curved) = (p.point.x, p.point.y, p.curved);
            let _ = write!(inside, "<arcpath id=\"{n:03}\" x=\"{x:?}\" y=\"{y:?}\" curvePoint=\"{curved}\"/>");
        }
        inside.push_str(&self.instruction_text(&pairs));
        self.own(&inside);
        self.xml.push_str("</arc>\n");
    }
}

/// Returns true if a place/transition net has such an arc.
fn is_plain(arc: &Arc) -> bool {
    matches!(arc.kind, ArcKind::Input | ArcKind::Output)
}
