//! Writes PIPE XML that PIPE 4.3.0, PIPE 5.0 and PIPECore 2.0 load, and that tailspn reads back as the same net.
//!
//! Features that PIPE lacks are written in an equivalent or the closest possible way; their exact form is stored in
//! `<?tailspn …?>` instructions. Every difference in meaning is a [`WriteWarning`].

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io;

use crate::formats::layout;
use crate::formats::pipe::escape::{attribute, content, is_writable};
use crate::formats::pipe::loss::{Loss, WriteWarning};
use crate::formats::pipe::names::NameTable;
use crate::formats::pipe::values::{Entry, class_list};
use crate::formats::pipe::{complement, erlang};
use crate::net::expr::{Expr, Leaf};
use crate::net::{Net, PartRef, Place, PlaceId, Point, StateGroup, TransitionId};

/// The PIPE version that a file is written for. All versions load both kinds of files, but read some data of only one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// PIPE 4.3: state groups and tags as elements, commas in expressions as `@`.
    #[default]
    Pipe4,
    /// PIPE 5.0 and PIPECore 2.0: state groups and tags as instructions, token counts with their class.
    Pipe5,
}

/// Distance of a complement from its position in the drawing, in pixels.
const BESIDE: f64 = 45.0;

/// Settings of writing PIPE XML.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteOptions {
    /// The PIPE version to write for. Default PIPE 4.3.
    pub target: Target,
    /// True if Erlang delays become chains of exponential transitions, with new places and transitions. Otherwise each
    /// becomes one exponential delay of the same mean, and an instruction stores the distribution. Default false.
    pub expand_erlang: bool,
}

/// A net as text.
#[derive(Clone, Debug)]
pub struct Written {
    /// The file, in ASCII.
    pub xml: String,
    /// Parts that PIPE loads differently.
    pub warnings: Vec<WriteWarning>,
}

/// Writes a net as PIPE XML.
///
/// ```
/// use tailspn_engine::formats::pipe::{ReadOptions, WriteOptions, read, write};
/// use tailspn_engine::net::{Law, NetBuilder, Timing};
///
/// let mut b = NetBuilder::new("");
/// let p = b.place("P0", 1);
/// let t = b.transition("T0", Timing::general(Law::Deterministic { delay: 3.0 }));
/// b.input(p, t, 1.0);
/// let net = b.build().unwrap();
/// let written = write(&net, &WriteOptions::default());
/// assert_eq!(written.warnings.len(), 1); // PIPE gets an exponential delay of mean 3
/// let back = read(written.xml.as_bytes(), &ReadOptions::default()).unwrap().net;
/// assert_eq!(back.transitions(), net.transitions());
/// ```
pub fn write(net: &Net, options: &WriteOptions) -> Written {
    let mut warnings = Vec::new();
    let expanded = options.expand_erlang.then(|| erlang::expand(net, &mut warnings));
    let net = expanded.as_ref().unwrap_or(net);
    let mut writer = Writer::new(net, *options, warnings);
    writer.all();
    Written { xml: writer.xml, warnings: writer.warnings }
}

/// The result of [`write_to`], apart from the text.
#[derive(Clone, Debug)]
pub struct Streamed {
    /// Parts that PIPE loads differently.
    pub warnings: Vec<WriteWarning>,
    /// True if PIPE loads the net itself, because no part needed an instruction or other parts.
    pub is_plain: bool,
}

/// Writes a net as [`write()`] does, but element by element to `out`, so that the text is never in memory as a whole.
///
/// # Errors
///
/// An error of `out`.
pub fn write_to(net: &Net, options: &WriteOptions, out: &mut dyn io::Write) -> io::Result<Streamed> {
    let mut warnings = Vec::new();
    let expanded = options.expand_erlang.then(|| erlang::expand(net, &mut warnings));
    let written = expanded.as_ref().unwrap_or(net);
    let mut writer = Writer::new(written, *options, warnings);
    writer.out = Some(out);
    writer.all();
    writer.flush(0);
    writer.failed?;
    let same = written.places().len() == net.places().len();
    Ok(Streamed { warnings: writer.warnings, is_plain: same && !writer.is_instructed })
}

/// The end of a file.
pub(super) const TAIL: &str = "</net>\n</pnml>\n";

/// Number of bytes of elements that are written together.
pub(super) const PIECE: usize = 1 << 16;

pub(super) struct Writer<'n> {
    pub(super) net: &'n Net,
    pub(super) options: WriteOptions,
    pub(super) names: NameTable,
    /// The text, without the part that was already written to `out`.
    pub(super) xml: String,
    /// Where the text goes; if not set, it stays in `xml`.
    pub(super) out: Option<&'n mut (dyn io::Write + 'n)>,
    /// The first error of `out`.
    pub(super) failed: io::Result<()>,
    /// True if a part has an instruction, or exists only for PIPE.
    pub(super) is_instructed: bool,
    pub(super) warnings: Vec<WriteWarning>,
    /// Places used in expressions: PIPE 4.3 would look for their names instead of their ids.
    named_in_expressions: HashSet<PlaceId>,
    positions: layout::Layout,
    /// Positions of the arcs of each transition.
    pub(super) arcs_of: Vec<Vec<usize>>,
    /// True if the marking can be written as a list by class, because a reader would get the class ids back unchanged.
    lists_classes: bool,
    pub(super) class_ids: Vec<String>,
    /// Ids that a place and a transition share.
    pub(super) shared_ids: HashSet<&'n str>,
    /// Number of elements written so far that PIPE 5 does not expect.
    pub(super) unexpected: usize,
}

impl<'n> Writer<'n> {
    pub(super) fn new(net: &'n Net, options: WriteOptions, warnings: Vec<WriteWarning>) -> Self {
        let mut named_in_expressions = HashSet::new();
        for_each_expression(net, &mut |expr| {
            expr.for_each_leaf(&mut |leaf| {
                if let Leaf::Tokens(place, _) | Leaf::Capacity(place) = leaf {
                    named_in_expressions.insert(*place);
                }
            });
        });
        let positions = layout::Layout::of(net);
        let names = NameTable::of_net(net);
        let mut arcs_of = vec![Vec::new(); net.transitions().len()];
        for (i, arc) in net.arcs().iter().enumerate() {
            arcs_of[arc.transition.index()].push(i);
        }
        let places: HashSet<&str> = net.places().iter().map(|p| p.id.as_str()).collect();
        let shared_ids = net.transitions().iter().map(|t| t.id.as_str()).filter(|id| places.contains(id)).collect();
        Self {
            net,
            options,
            names,
            xml: String::new(),
            out: None,
            failed: Ok(()),
            is_instructed: false,
            warnings,
            named_in_expressions,
            positions,
            arcs_of,
            lists_classes: lists_classes(net),
            class_ids: net.classes().iter().map(|c| c.id.clone()).collect(),
            shared_ids,
            unexpected: 0,
        }
    }

    fn all(&mut self) {
        self.head();
        self.check_characters();
        self.annotations();
        self.parameters();
        self.places();
        let complements = complement::of(self.net);
        for place in &complements.places {
            let text = Place { id: place.id.clone(), initial: vec![place.tokens], ..Place::default() };
            let at = self.positions.place(place.beside);
            let at = Point { x: at.x + BESIDE, y: at.y + BESIDE };
            self.place_element(&text, at, 0, ONLY_FOR_PIPE);
        }
        self.transitions();
        self.is_instructed |= !complements.places.is_empty();
        self.arcs(&complements);
        self.state_groups();
        self.check_unexpected();
        self.xml.push_str(TAIL);
    }

    /// Everything before the parts: the start of the file, the net's name and the token classes.
    pub(super) fn head(&mut self) {
        self.xml.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<pnml>\n");
        self.xml.push_str("<net id=\"Net-One\" type=\"P/T net\">\n");
        if !self.net.name().is_empty() {
            self.instruction(&[("net-name", self.net.name().to_owned())]);
            self.is_instructed = false;
            self.xml.push('\n');
        }
        self.classes();
    }

    pub(super) fn places(&mut self) {
        for i in 0..self.net.places().len() {
            self.place(PlaceId::from_index(i));
            self.flush(PIECE);
        }
    }

    pub(super) fn transitions(&mut self) {
        for i in 0..self.net.transitions().len() {
            self.transition(TransitionId::from_index(i));
            self.flush(PIECE);
        }
    }

    /// Writes the text so far to `out`, if it has more than `size` bytes.
    pub(super) fn flush(&mut self, size: usize) {
        if let Some(out) = self.out.as_mut().filter(|_| self.xml.len() > size) {
            if self.failed.is_ok() {
                self.failed = out.write_all(self.xml.as_bytes());
            }
            self.xml.clear();
        }
    }

    pub(super) fn layout(&self) -> &layout::Layout {
        &self.positions
    }

    /// Position of a name in PIPE's drawing: from the net, or from the layered drawing.
    pub(super) fn name_offset(&self, name: &str, own: Point, pairs: &mut Vec<(&'static str, String)>) -> Point {
        match self.positions.name_offset(name) {
            Some(offset) if own == Point::default() => {
                pairs.push(("name-offset", "none".to_owned()));
                offset
            }
            _ => own,
        }
    }

    pub(super) fn warn(&mut self, loss: Loss, part: PartRef, message: String) {
        self.warnings.push(WriteWarning { loss, part: Some(part), message });
    }

    /// Writes `<?tailspn key="value" …?>`.
    pub(super) fn instruction(&mut self, pairs: &[(&str, String)]) {
        if pairs.is_empty() {
            return;
        }
        self.is_instructed = true;
        self.xml.push_str("<?tailspn");
        for (key, value) in pairs {
            let _ = write!(self.xml, " {key}=\"{}\"", attribute(value));
        }
        self.xml.push_str("?>");
    }

    pub(super) fn check_characters(&mut self) {
        let net = self.net;
        let ids = net.places().iter().flat_map(|p| [&p.id, &p.name]);
        let ids = ids.chain(net.transitions().iter().flat_map(|t| [&t.id, &t.name]));
        let texts = ids.chain(net.arcs().iter().map(|a| &a.id)).chain(net.annotations().iter().map(|a| &a.text));
        for text in texts.filter(|text| !is_writable(text)) {
            let message = format!("{text:?} has characters that XML does not allow; they are replaced");
            self.warnings.push(WriteWarning { loss: Loss::Character, part: None, message });
        }
    }

    fn classes(&mut self) {
        for class in self.net.classes() {
            let [red, green, blue] = class.colour;
            let _ = writeln!(
                self.xml,
                "<token id=\"{}\" enabled=\"{}\" red=\"{red}\" green=\"{green}\" blue=\"{blue}\"/>",
                attribute(&class.id),
                class.enabled
            );
        }
    }

    pub(super) fn annotations(&mut self) {
        for annotation in self.net.annotations() {
            let (at, size) = (annotation.position, annotation.size);
            let _ = write!(
                self.xml,
                "<labels x=\"{:.0}\" y=\"{:.0}\" width=\"{:.0}\" height=\"{:.0}\" border=\"{}\"><text>{}</text>",
                at.x,
                at.y,
                size.x,
                size.y,
                annotation.border,
                content(&annotation.text)
            );
            if [at.x, at.y, size.x, size.y].iter().any(|v| v.fract() != 0.0) {
                self.instruction(&[("position", point(at)), ("size", point(size))]);
            }
            self.xml.push_str("</labels>\n");
        }
    }

    pub(super) fn parameters(&mut self) {
        for (i, parameter) in self.net.parameters().iter().enumerate() {
            let id = crate::net::ParameterId::from_index(i);
            let position = parameter.position.map(|p| ("position", point(p)));
            match parameter.value.as_number() {
                Some(value) => {
                    let name = attribute(&parameter.name);
                    let _ = write!(
                        self.xml,
                        "<definition defType=\"real\" expression=\"{value:?}\" id=\"{name}\" name=\"{name}\" type=\"text\""
                    );
                    if let Some(position) = position {
                        self.xml.push('>');
                        self.instruction(&[position]);
                        self.xml.push_str("</definition>\n");
                    } else {
                        self.xml.push_str("/>\n");
                    }
                }
                None => {
                    let value = self.exact_text("value", "value-by-position", &parameter.value);
                    let mut pairs = vec![("parameter", parameter.name.clone()), value];
                    pairs.extend(position);
                    self.instruction(&pairs);
                    self.xml.push('\n');
                    let message = format!(
                        "rate parameter `{}` is not constant; for PIPE, its value is inserted wherever it is used",
                        parameter.name
                    );
                    self.warn(Loss::Parameter, PartRef::Parameter(id), message);
                }
            }
        }
    }

    fn place(&mut self, id: PlaceId) {
        let place = self.net.place(id);
        let mut pairs = Vec::new();
        let mut shown = place.clone();
        let replace =
            self.options.target == Target::Pipe4 && !place.name.is_empty() && self.named_in_expressions.contains(&id);
        if replace {
            shown.name.clear();
            let message = format!(
                "place `{}` is shown by its id instead of its label `{}`. Rates refer to this place, and PIPE 4.3 looks for the name, \
                 but PIPE 5 for the id",
                place.id, place.name
            );
            self.warn(Loss::Name, PartRef::Place(id), message);
        }
        if replace || place.label().trim() != place.label() {
            pairs.push(("name", place.name.clone()));
        }
        if place.position.is_none() {
            pairs.push(("position", "none".to_owned()));
        }
        shown.label_offset = self.name_offset(shown.label(), place.label_offset, &mut pairs);
        if !self.lists_classes {
            let counts: Vec<_> = place.initial.iter().map(ToString::to_string).collect();
            pairs.push(("marking-by-position", counts.join(" ")));
        }
        let capacity = place.capacity.unwrap_or(0);
        let mut written = capacity;
        if place.capacity == Some(0) || i32::try_from(capacity).is_err() {
            written = 0;
            pairs.push(("capacity", capacity.to_string()));
            let message = format!("place `{}` has a capacity of {capacity}; PIPE gets no capacity", place.id);
            self.warn(Loss::Range, PartRef::Place(id), message);
        }
        if place.initial.iter().any(|n| i32::try_from(*n).is_err()) {
            let message = format!("place `{}` has more tokens than PIPE can count", place.id);
            self.warn(Loss::Range, PartRef::Place(id), message);
        }
        shown.capacity = Some(written);
        let at = self.positions.place(id);
        let start = self.xml.len();
        self.instruction(&pairs);
        let instruction = self.xml.split_off(start);
        self.place_element(&shown, at, written, &instruction);
    }

    fn place_element(&mut self, place: &Place, at: Point, capacity: u32, instruction: &str) {
        let id = attribute(&place.id);
        let _ = writeln!(
            self.xml,
            "<place id=\"{id}\"><graphics><position x=\"{:?}\" y=\"{:?}\"/></graphics><name><value>{}</value>\
             <graphics><offset x=\"{:?}\" y=\"{:?}\"/></graphics></name><initialMarking><value>{}</value><graphics>\
             <offset x=\"0.0\" y=\"0.0\"/></graphics></initialMarking><capacity><value>{capacity}</value></capacity>\
             {instruction}</place>",
            at.x,
            at.y,
            content(place.label()),
            place.label_offset.x,
            place.label_offset.y,
            content(&self.marking(&place.initial)),
        );
    }

    /// Tokens of all classes, with `Default` first, as PIPE 4.3 requires.
    fn marking(&self, initial: &[u32]) -> String {
        let classes = self.net.classes().iter().enumerate();
        let mut entries: Vec<_> = classes.map(|(i, c)| (&c.id, initial.get(i).copied().unwrap_or(0))).collect();
        entries.sort_by_key(|(id, _)| *id != "Default");
        let entries: Vec<_> = entries.iter().map(|(id, tokens)| format!("{id},{tokens}")).collect();
        entries.join(",")
    }

    fn state_groups(&mut self) {
        let groups = self.net.state_groups();
        let plain = |text: &String| text.trim() == text;
        for group in groups {
            if self.options.target == Target::Pipe5 || !plain(&group.name) || !group.conditions.iter().all(plain) {
                self.group_instruction(group);
                continue;
            }
            self.unexpected += 1;
            let id = attribute(&group.id);
            let _ = write!(self.xml, "<stategroup id=\"{id}\"><name><value>{}</value></name>", content(&group.name));
            for condition in &group.conditions {
                let condition = content(condition);
                let _ = write!(self.xml, "<statecondition><value>{condition}</value></statecondition>");
            }
            self.xml.push_str("</stategroup>\n");
        }
    }

    /// Adds a warning if PIPE 5 may refuse the file because of too many unexpected elements.
    fn check_unexpected(&mut self) {
        if self.unexpected > MAX_UNEXPECTED {
            let message = format!(
                "{} state groups and tagged arcs: PIPE 5 may refuse a file with more than {MAX_UNEXPECTED}; the format pipe5 leaves them out",
                self.unexpected
            );
            self.warnings.push(WriteWarning { loss: Loss::Unexpected, part: None, message });
        }
    }

    pub(super) fn group_instruction(&mut self, group: &StateGroup) {
        let mut pairs = vec![("group", group.id.clone()), ("name", group.name.clone())];
        let keys: Vec<_> = (0..group.conditions.len()).map(|i| format!("condition-{i}")).collect();
        pairs.extend(keys.iter().zip(&group.conditions).map(|(key, text)| (key.as_str(), text.clone())));
        self.instruction(&pairs);
        self.xml.push('\n');
    }
}

/// Marks an element that replaces something that an instruction expresses better.
pub(super) const ONLY_FOR_PIPE: &str = "<?tailspn only-for=\"PIPE\"?>";

/// Number of unexpected elements that PIPE 5 tolerates.
const MAX_UNEXPECTED: usize = 10;

/// Returns true if a list of the classes of a net is read back unchanged.
fn lists_classes(net: &Net) -> bool {
    let ids: Vec<_> = net.classes().iter().map(|c| c.id.clone()).collect();
    let list = ids.iter().map(|id| format!("{id},0")).collect::<Vec<_>>().join(",");
    let entries = class_list(&list, &ids);
    let same = |(entry, id): (&Entry, &String)| entry.class.as_ref().is_some_and(|c| list[c.clone()] == **id);
    entries.len() == ids.len() && entries.iter().zip(&ids).all(same)
}

/// Two coordinates, in the form that instructions use.
pub(super) fn point(p: Point) -> String {
    format!("{:?} {:?}", p.x, p.y)
}

/// Calls `visit` for every expression that PIPE evaluates.
pub(super) fn for_each_expression(net: &Net, visit: &mut impl FnMut(&Expr)) {
    use crate::net::{Delay, Timing};
    for parameter in net.parameters() {
        visit(&parameter.value);
    }
    for transition in net.transitions() {
        match &transition.timing {
            Timing::Immediate { weight: rate, .. } | Timing::Timed { delay: Delay::Exponential { rate }, .. } => {
                visit(rate);
            }
            Timing::Timed { .. } => {}
        }
    }
    for weight in net.arcs().iter().flat_map(|a| &a.weights) {
        visit(&weight.weight);
    }
}
