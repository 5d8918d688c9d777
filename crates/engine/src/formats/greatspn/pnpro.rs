//! Reading the projects of GreatSPN's editor (`.PNPRO`).

use std::ops::Range;

use crate::formats::greatspn::assemble::assemble;
use crate::formats::greatspn::raw::{RawArc, RawConstant, RawMeasure, RawNet, RawPlace, RawTiming, RawTransition};
use crate::formats::pipe::Dialect;
use crate::formats::pipe::encoding::decode_noting;
use crate::formats::pipe::notes::Notes;
use crate::formats::pipe::options::ReadOptions;
use crate::formats::pipe::problem::{Fault, Oddity, ReadError};
use crate::formats::pipe::read::ReadNet;
use crate::formats::pipe::xml::{Element, Item, Outline, Text, stream};
use crate::net::{Annotation, Point};

/// Pixels per unit of GreatSPN's drawing.
pub(super) const UNIT: f64 = 16.0;

/// The elements of a project that hold parts.
const PROJECT: Outline = Outline { root: "project", containers: &["gspn", "nodes", "edges"] };

/// Reads a net from the bytes of a project.
///
/// ```
/// use tailspn_engine::formats::greatspn::read_project;
/// use tailspn_engine::formats::pipe::ReadOptions;
///
/// let project = r#"<project name="q" version="121"><gspn name="Q"><nodes>
///     <place name="p" marking="K" x="1.0" y="1.0"/><template name="K" type="INTEGER" x="1.0" y="1.0"/>
///     <transition name="t" type="EXP" delay="2.5" nservers="1" x="1.0" y="1.0"/>
/// </nodes><edges><arc kind="INPUT" tail="p" head="t"/></edges></gspn></project>"#;
/// let options = ReadOptions { constants: vec![("K".to_owned(), 3.0)], ..ReadOptions::default() };
/// assert_eq!(read_project(project.as_bytes(), &options).unwrap().net.places()[0].initial, [3]);
/// ```
///
/// # Errors
///
/// Everything that is wrong with the chosen net, each with line and column. Reading stops at XML that is not well-formed.
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<ReadNet, ReadError> {
    let (text, _) = decode_noting(bytes, options.max_bytes)?;
    let mut collector =
        Collector { notes: Notes::new(&text), options, pages: Vec::new(), open: 0, measures: Vec::new() };
    let streamed = stream(&text, &PROJECT, options, &mut |item| collector.visit(item));
    if let Err((span, fault)) = streamed {
        collector.notes.fault(span, fault);
        return Err(collector.notes.into_error());
    }
    let (raw, mut notes) = collector.chosen()?;
    if raw.places.is_empty() && raw.transitions.is_empty() && !notes.refused() {
        notes.fault(0..0, Fault::NoNetPage);
    }
    assemble(&raw, notes, options, Dialect::GreatSpn)
}

/// A net of the project, and the problems of its elements.
#[derive(Debug, Default)]
struct Page<'t> {
    net: RawNet<'t>,
    tag: Range<usize>,
    faults: Vec<(Range<usize>, Fault)>,
    /// Elements and attributes that are ignored.
    foreign: Vec<(Range<usize>, String)>,
}

/// A list of measures, with the values that the list assigns to templates.
#[derive(Debug, Default)]
struct Measures<'t> {
    net: String,
    formulas: Vec<RawMeasure<'t>>,
    values: Vec<(String, Text<'t>)>,
}

struct Collector<'o, 't> {
    notes: Notes<'t>,
    options: &'o ReadOptions,
    pages: Vec<Page<'t>>,
    /// Number of open containers.
    open: usize,
    measures: Vec<Measures<'t>>,
}

impl<'t> Collector<'_, 't> {
    fn visit(&mut self, item: Item<'_, 't>) {
        match item {
            Item::Open(element) => {
                self.open += 1;
                if element.name() == "gspn" {
                    let name = element.attribute("name").map(|name| name.value.into_owned()).unwrap_or_default();
                    let net = RawNet { name, ..RawNet::default() };
                    self.pages.push(Page { net, tag: element.span(), ..Page::default() });
                }
            }
            Item::Close => self.open -= 1,
            Item::Part(element) if self.open == 3 => {
                if let Some(page) = self.pages.last_mut() {
                    page.part(element);
                }
            }
            Item::Part(element) if self.open == 1 => self.page(element),
            Item::Part(element) => {
                if let Some(page) = self.pages.last_mut() {
                    page.leave_out(element.span(), format!("`<{}>` in net `{}`", element.name(), page.net.name));
                }
            }
        }
    }

    /// Notes a page of the project that is not a net.
    fn page(&mut self, element: Element<'_, 't>) {
        match element.name() {
            "measures" => {
                let net = element.attribute("gspn-name").map(|name| name.value.into_owned()).unwrap_or_default();
                let mut measures = Measures { net, ..Measures::default() };
                let lists = |name| element.children().filter(move |child| child.name() == name);
                for formula in lists("formulas").flat_map(Element::children) {
                    let language =
                        formula.attribute("language").map(|text| text.value.into_owned()).unwrap_or_default();
                    let text = formula.attribute("expr").or_else(|| formula.text());
                    let text = text.unwrap_or(Text { value: "".into(), span: formula.span() });
                    measures.formulas.push(RawMeasure { language, formula: text.trimmed() });
                }
                for assignment in lists("assignments").flat_map(Element::children) {
                    let value = assignment.attribute("single-val").filter(|value| !value.value.trim().is_empty());
                    if let (Some(name), Some(value)) = (assignment.attribute("varname"), value) {
                        measures.values.push((name.value.into_owned(), value));
                    }
                }
                self.measures.push(measures);
            }
            "resource-list" | "?tailspn" => {}
            name => {
                let page = element.attribute("name").map(|name| name.value).unwrap_or_default();
                let message = format!("page `{page}` (`<{name}>`) of the project is not a net; skipped");
                self.notes.odd(element.span(), Oddity::ForeignElement, || message);
            }
        }
    }

    /// The net that the options choose, with its measures.
    fn chosen(self) -> Result<(RawNet<'t>, Notes<'t>), ReadError> {
        let Self { mut notes, options, mut pages, measures, .. } = self;
        let names = pages.iter().map(|page| format!("`{}`", page.net.name)).collect::<Vec<_>>().join(", ");
        let found = match &options.net {
            Some(name) => {
                let found = pages.iter().position(|page| page.net.name == *name);
                if found.is_none() {
                    let fault = Fault::UnknownNet { name: name.clone(), names };
                    notes.fault(pages.first().map_or(0..0, |page| page.tag.clone()), fault);
                }
                found
            }
            None if pages.len() > 1 => {
                notes.fault(pages[1].tag.clone(), Fault::SeveralNets { names });
                None
            }
            None if pages.is_empty() => {
                notes.fault(0..0, Fault::NoNetPage);
                None
            }
            None => Some(0),
        };
        let Some(found) = found else { return Err(notes.into_error()) };
        let Page { net: mut raw, faults, foreign, .. } = pages.swap_remove(found);
        for (span, fault) in faults {
            notes.fault(span, fault);
        }
        for (span, what) in foreign {
            notes.odd(span, Oddity::ForeignElement, || format!("{what} has no meaning here; ignored"));
        }
        for measures in measures.into_iter().filter(|measures| measures.net == raw.name) {
            for constant in raw.constants.iter_mut().filter(|constant| constant.value.is_none()) {
                let given = measures.values.iter().find(|(name, _)| *name == *constant.name.value);
                constant.value = given.map(|(_, value)| value.clone());
            }
            raw.measures.extend(measures.formulas);
        }
        Ok((raw, notes))
    }
}

impl<'t> Page<'t> {
    fn refuse(&mut self, span: Range<usize>, what: String, formalism: &'static str) {
        self.faults.push((span, Fault::Formalism { what, formalism }));
    }

    fn leave_out(&mut self, span: Range<usize>, what: String) {
        self.foreign.push((span, what));
    }

    fn part(&mut self, element: Element<'_, 't>) {
        match element.name() {
            "place" => self.place(element),
            "transition" => self.transition(element),
            "constant" | "template" => self.constant(element),
            "arc" => self.arc(element),
            "text-box" => self.annotation(element),
            // coloured places and arcs are refused elsewhere
            name => self.leave_out(element.span(), format!("`<{name}>`")),
        }
    }

    /// The name of a part, or `None` after a fault was noted.
    fn name(&mut self, element: Element<'_, 't>, kind: &'static str) -> Option<Text<'t>> {
        let name = element.attribute("name").filter(|name| !name.value.trim().is_empty());
        if name.is_none() {
            self.faults.push((element.span(), Fault::MissingId { kind }));
        }
        name
    }

    /// Notes the attributes that are neither `known` nor only for drawing.
    fn check_attributes(&mut self, element: Element<'_, 't>, known: &[&str]) {
        const DRAWN: [&str; 9] =
            ["name", "x", "y", "rotation", "height", "magnets", "locked", "superposition-tags", "partition"];
        let drawn =
            |name: &str| DRAWN.contains(&name) || name.ends_with("-x") || name.ends_with("-y") || name.ends_with("-k");
        let odd = element.attributes().find(|(name, _)| !known.contains(name) && !drawn(name));
        if let Some((name, value)) = odd {
            self.leave_out(value.span.clone(), format!("attribute `{name}` of `<{}>`", element.name()));
        }
    }

    fn place(&mut self, element: Element<'_, 't>) {
        let Some(name) = self.name(element, "place") else { return };
        self.check_attributes(element, &["marking", "type", "domain"]);
        let id = &*name.value;
        if let Some(domain) = element.attribute("domain").filter(|domain| !domain.value.trim().is_empty()) {
            self.refuse(domain.span, format!("place `{id}` has the colour domain `{}`", domain.value), COLOURED);
        } else if let Some(kind) = element.attribute("type").filter(|kind| kind.value != "DISCRETE") {
            self.refuse(kind.span, format!("place `{id}` has the type `{}`", kind.value), FLUID);
        }
        self.net.places.push(RawPlace {
            marking: filled(element, "marking"),
            position: point(element, "x", "y"),
            label_offset: point(element, "label-x", "label-y").unwrap_or_default(),
            name,
        });
    }

    fn transition(&mut self, element: Element<'_, 't>) {
        let Some(name) = self.name(element, "transition") else { return };
        self.check_attributes(element, &["type", "delay", "nservers", "weight", "priority", "guard"]);
        let id = &*name.value;
        if let Some(guard) = filled(element, "guard").filter(|guard| !guard.value.trim().eq_ignore_ascii_case("true")) {
            self.refuse(guard.span, format!("transition `{id}` has the guard `{}`", guard.value), "guards");
        }
        let kind = element.attribute("type");
        let timing = match kind.as_ref().map(|kind| &*kind.value) {
            Some("EXP") => {
                RawTiming::Exponential { rate: filled(element, "delay"), servers: filled(element, "nservers") }
            }
            Some("IMM") => {
                RawTiming::Immediate { weight: filled(element, "weight"), priority: filled(element, "priority") }
            }
            Some("GEN") => RawTiming::General { density: filled(element, "delay") },
            other => {
                let what = format!(
                    "transition `{id}` has {}",
                    other.map_or("no type".to_owned(), |t| format!("the type `{t}`"))
                );
                let span = kind.as_ref().map_or(element.span(), |kind| kind.span.clone());
                let formalism = if other == Some("CONT") { FLUID } else { "transitions other than EXP, IMM and GEN" };
                self.refuse(span, what, formalism);
                return;
            }
        };
        self.net.transitions.push(RawTransition {
            tag: element.span(),
            timing,
            position: point(element, "x", "y"),
            orientation: degrees(element),
            label_offset: point(element, "label-x", "label-y").unwrap_or_default(),
            name,
        });
    }

    fn constant(&mut self, element: Element<'_, 't>) {
        let Some(name) = self.name(element, "constant") else { return };
        let kind = element.attribute("consttype").or_else(|| element.attribute("type"));
        match kind.as_ref().map(|kind| &*kind.value) {
            Some("INTEGER" | "REAL") => {}
            other => {
                let what = format!("`{}` has the type `{}`", name.value, other.unwrap_or_default());
                let span = kind.as_ref().map_or(element.span(), |kind| kind.span.clone());
                self.refuse(span, what, "constants other than INTEGER and REAL");
            }
        }
        if let Some(domain) = element.attribute("domain").filter(|domain| !domain.value.trim().is_empty()) {
            self.refuse(domain.span, format!("constant `{}` is a coloured multiset", name.value), COLOURED);
        }
        let value = filled(element, "value").or_else(|| filled(element, "last-binding"));
        self.net.constants.push(RawConstant { name, value, position: point(element, "x", "y") });
    }

    fn arc(&mut self, element: Element<'_, 't>) {
        self.check_attributes(
            element,
            &[
                "head",
                "tail",
                "kind",
                "type",
                "mult",
                "multiplicity",
                "head-magnet",
                "tail-magnet",
                "broken",
                "is-broken",
            ],
        );
        let (Some(tail), Some(head)) = (element.attribute("tail"), element.attribute("head")) else {
            let end = if element.attribute("tail").is_none() { "tail" } else { "head" };
            let other = element.attribute("tail").or_else(|| element.attribute("head"));
            let arc = other.map_or_else(|| "?".to_owned(), |other| other.value.into_owned());
            self.faults.push((element.span(), Fault::UnknownNode { arc, end, id: String::new() }));
            return;
        };
        let kind = element.attribute("kind").or_else(|| element.attribute("type"));
        let inhibits = match kind.as_ref().map(|kind| &*kind.value) {
            Some("INPUT" | "OUTPUT" | "INPUT_OR_OUTPUT") | None => false,
            Some("INHIBITOR") => true,
            Some(other) => {
                let what = format!("arc `{} to {}` has the kind `{other}`", tail.value, head.value);
                let span = kind.as_ref().map_or(element.span(), |kind| kind.span.clone());
                self.refuse(span, what, "arcs other than INPUT, OUTPUT and INHIBITOR");
                return;
            }
        };
        let weight = filled(element, "mult").or_else(|| filled(element, "multiplicity"));
        if let Some(weight) = weight.as_ref().filter(|weight| weight.value.contains('<') && weight.value.contains('>'))
        {
            let what =
                format!("arc `{} to {}` has the coloured multiplicity `{}`", tail.value, head.value, weight.value);
            self.refuse(weight.span.clone(), what, COLOURED);
            return;
        }
        let bends = element.children().filter(|child| child.name() == "point");
        let bends = bends.filter_map(|bend| point(bend, "x", "y")).collect();
        self.net.arcs.push(RawArc { tag: element.span(), tail, head, inhibits, weight, bends });
    }

    fn annotation(&mut self, element: Element<'_, 't>) {
        let size = Point {
            x: number(element, "width").unwrap_or(12.0) * UNIT,
            y: number(element, "height").unwrap_or(8.0) * UNIT,
        };
        self.net.annotations.push(Annotation {
            position: point(element, "x", "y").unwrap_or_default(),
            size,
            border: element.attribute("border-color").is_none_or(|colour| colour.value != NO_BORDER),
            text: element.text().map(|text| text.value.into_owned()).unwrap_or_default(),
        });
    }
}

/// Coordinates beyond this are ignored.
const MOST_FAR: f64 = 1e9;
/// Name of coloured nets in messages.
pub(super) const COLOURED: &str = "coloured nets of GreatSPN";
/// Name of nets with continuous parts in messages.
const FLUID: &str = "fluid nets of GreatSPN";
/// Default border of a text.
pub(super) const NO_BORDER: &str = "#ffffff";

/// An attribute that is not empty.
fn filled<'t>(element: Element<'_, 't>, name: &str) -> Option<Text<'t>> {
    element.attribute(name).filter(|text| !text.value.trim().is_empty())
}

fn number(element: Element<'_, '_>, name: &str) -> Option<f64> {
    element.attribute(name)?.value.trim().parse().ok().filter(|value: &f64| value.abs() <= MOST_FAR)
}

/// A point of the drawing, in pixels. One missing coordinate is 0; if both are missing, there is no point.
fn point(element: Element<'_, '_>, x: &str, y: &str) -> Option<Point> {
    let (x, y) = (number(element, x), number(element, y));
    let pixels = |value: Option<f64>| value.unwrap_or(0.0) * UNIT;
    (x.is_some() || y.is_some()).then(|| Point { x: pixels(x), y: pixels(y) })
}

/// The rotation, from radians.
fn degrees(element: Element<'_, '_>) -> i32 {
    let degrees = number(element, "rotation").unwrap_or(0.0).to_degrees().round().clamp(-1e6, 1e6);
    #[expect(clippy::cast_possible_truncation, reason = "rounded and clamped")]
    let degrees = degrees as i32;
    degrees
}
