//! Writes a generated net part by part, so that neither the net nor its text is ever in memory as a whole.
//!
//! A file has all places first, then all transitions, then all arcs. So the program that generates the parts runs three
//! times, and each time only the parts of one of these sections are written, in small nets of [`PARTS`] parts.

use std::io;
use std::rc::Rc;

use crate::formats::pipe::complement::Complements;
use crate::formats::pipe::loss::WriteWarning;
use crate::formats::pipe::write::{TAIL, Target, WriteOptions, Writer};
use crate::net::{ArcKind, Net, NetBuilder, PartSink, Place, Point, Timing, Transition};

/// Number of parts that are written together.
const PARTS: usize = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Places,
    Transitions,
    Arcs,
}

/// The result of [`write_parts`], apart from the text.
#[derive(Clone, Debug, Default)]
pub struct WrittenParts {
    /// Parts that PIPE loads differently; the warnings do not name them.
    pub warnings: Vec<WriteWarning>,
    /// True if no part needed an instruction.
    pub is_plain: bool,
    /// Number of places.
    pub places: usize,
    /// Number of transitions.
    pub transitions: usize,
    /// Number of arcs.
    pub arcs: usize,
}

/// The receiver of the parts in [`write_parts`].
pub struct PartWriter<'o> {
    section: Section,
    /// The parts that are not written yet, and for arcs their places and transitions.
    parts: NetBuilder,
    count: usize,
    options: WriteOptions,
    out: &'o mut (dyn io::Write + 'o),
    result: io::Result<WrittenParts>,
}

impl std::fmt::Debug for PartWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PartWriter").field("section", &self.section).field("count", &self.count).finish_non_exhaustive()
    }
}

/// Writes a net as PIPE XML to `out`; `generate` passes on its parts and must pass on the same parts each time.
///
/// Every part needs an id that no other part has, every place and transition needs a position, and at most one arc leads from
/// a node to another. The text is then that of [`write_to`](crate::formats::pipe::write_to).
///
/// ```
/// use tailspn_engine::formats::pipe::{ReadOptions, Target, read, write_parts};
/// use tailspn_engine::net::{ArcKind, PartSink, Place, Point, Timing, Transition};
///
/// let mut xml = Vec::new();
/// let at = Some(Point { x: 60.0, y: 60.0 });
/// write_parts("ring", Target::Pipe4, &mut xml, &mut |parts| {
///     for i in 0..1_000 {
///         let place = parts.take_place(Place { id: format!("p{i}"), position: at, ..Place::default() });
///         let timing = Timing::exponential(2.0);
///         let transition = parts.take_transition(Transition { position: at, ..Transition::new(format!("t{i}"), timing) });
///         parts.take_arc(ArcKind::Input, &place, &transition, 1.0);
///     }
/// })?;
/// assert_eq!(read(&xml, &ReadOptions::default())?.net.arcs().len(), 1_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// An error of `out`, or parts that do not form a net.
pub fn write_parts(
    name: &str,
    target: Target,
    out: &mut dyn io::Write,
    generate: &mut dyn FnMut(&mut PartWriter<'_>),
) -> io::Result<WrittenParts> {
    let options = WriteOptions { target, expand_erlang: false };
    let head = NetBuilder::new(name).build().map_err(io::Error::other)?;
    let mut writer = Writer::new(&head, options, Vec::new());
    writer.head();
    writer.check_characters();
    let written = WrittenParts { warnings: writer.warnings, is_plain: true, ..WrittenParts::default() };
    out.write_all(writer.xml.as_bytes())?;
    let parts = NetBuilder::new("");
    let mut sink = PartWriter { section: Section::Places, parts, count: 0, options, out, result: Ok(written) };
    for section in [Section::Places, Section::Transitions, Section::Arcs] {
        sink.section = section;
        generate(&mut sink);
        sink.write();
    }
    let written = sink.result?;
    sink.out.write_all(TAIL.as_bytes())?;
    Ok(written)
}

impl PartWriter<'_> {
    /// Counts a part of the current section, and writes the parts so far if they are many.
    fn added(&mut self) {
        self.count += 1;
        if self.count == PARTS {
            self.write();
        }
    }

    /// Writes the parts that are not written yet.
    fn write(&mut self) {
        let parts = std::mem::replace(&mut self.parts, NetBuilder::new(""));
        self.count = 0;
        if let Ok(written) = &mut self.result {
            let net = parts.build().map_err(io::Error::other);
            let result = net.and_then(|net| write_section(&net, self.section, self.options, &mut *self.out, written));
            if let Err(error) = result {
                self.result = Err(error);
            }
        }
    }
}

fn write_section(
    net: &Net,
    section: Section,
    options: WriteOptions,
    out: &mut dyn io::Write,
    written: &mut WrittenParts,
) -> io::Result<()> {
    let mut writer = Writer::new(net, options, Vec::new());
    writer.out = Some(out);
    match section {
        Section::Places => {
            writer.check_characters();
            writer.places();
            written.places += net.places().len();
        }
        Section::Transitions => {
            writer.check_characters();
            writer.transitions();
            written.transitions += net.transitions().len();
        }
        Section::Arcs => {
            writer.arcs(&Complements::default());
            written.arcs += net.arcs().len();
        }
    }
    writer.flush(0);
    written.is_plain &= !writer.is_instructed;
    written.warnings.extend(writer.warnings.into_iter().map(|warning| WriteWarning { part: None, ..warning }));
    writer.failed
}

impl PartSink for PartWriter<'_> {
    type Place = Rc<str>;
    type Transition = Rc<str>;

    fn take_place(&mut self, place: Place) -> Rc<str> {
        let id = Rc::from(place.id.as_str());
        if self.section == Section::Places {
            self.parts.add_place(place);
            self.added();
        }
        id
    }

    fn take_transition(&mut self, transition: Transition) -> Rc<str> {
        let id = Rc::from(transition.id.as_str());
        if self.section == Section::Transitions {
            self.parts.add_transition(transition);
            self.added();
        }
        id
    }

    fn is_full(&self) -> bool {
        self.result.is_err()
    }

    fn take_arc(&mut self, kind: ArcKind, place: &Rc<str>, transition: &Rc<str>, weight: f64) {
        if self.section != Section::Arcs {
            return;
        }
        let position = Some(Point::default());
        let known = self.parts.find_place(place);
        let place = known
            .unwrap_or_else(|| self.parts.add_place(Place { id: place.to_string(), position, ..Place::default() }));
        let known = self.parts.find_transition(transition);
        let transition = known.unwrap_or_else(|| {
            let timing = Timing::exponential(1.0);
            self.parts.add_transition(Transition { position, ..Transition::new(transition.to_string(), timing) })
        });
        self.parts.arc(kind, place, transition, weight);
        self.added();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::pipe::write_to;

    /// A chain longer than a piece, with a place that all transitions use and an inhibitor arc.
    fn chain(parts: &mut impl PartSink) {
        let at = |i: usize| Some(Point { x: 60.0 + i as f64, y: 30.5 });
        let shared = parts.take_place(Place {
            id: "shared & more".into(),
            initial: vec![7],
            position: at(0),
            ..Place::default()
        });
        let timings = [Timing::exponential(0.25), Timing::immediate(3.0, 2)];
        for i in 0..2 * PARTS {
            let place = parts.take_place(Place { id: format!("p{i}"), position: at(i), ..Place::default() });
            let timing = timings[i % 2].clone();
            let transition =
                parts.take_transition(Transition { position: at(i), ..Transition::new(format!("t{i}"), timing) });
            parts.take_arc(ArcKind::Input, &shared, &transition, 2.0);
            parts.take_arc(ArcKind::Output, &place, &transition, 1.0);
            parts.take_arc(ArcKind::Inhibitor, &place, &transition, 1.0);
        }
    }

    #[test]
    fn parts_are_written_like_the_net() {
        for (name, target) in [("", Target::Pipe4), ("a < b", Target::Pipe5)] {
            let mut net = NetBuilder::new(name);
            chain(&mut net);
            let (mut whole, mut pieces) = (Vec::new(), Vec::new());
            let options = WriteOptions { target, expand_erlang: false };
            let of_net = write_to(&net.build().unwrap(), &options, &mut whole).unwrap();
            let of_parts = write_parts(name, target, &mut pieces, &mut |parts| chain(parts)).unwrap();
            assert!(of_net.is_plain && of_parts.is_plain && of_parts.warnings.is_empty());
            assert_eq!((of_parts.places, of_parts.transitions, of_parts.arcs), (2 * PARTS + 1, 2 * PARTS, 6 * PARTS));
            assert!(String::from_utf8(whole).unwrap() == String::from_utf8(pieces).unwrap());
        }
    }

    #[test]
    fn losses_and_errors_are_reported() {
        let law = crate::net::Law::Deterministic { delay: 3.0 };
        let transition =
            || Transition { position: Some(Point::default()), ..Transition::new("t", Timing::general(law.clone())) };
        let written = write_parts("", Target::Pipe4, &mut io::sink(), &mut |parts| {
            parts.take_transition(transition());
        });
        let written = written.unwrap();
        assert_eq!((written.warnings.len(), written.is_plain, written.transitions), (1, false, 1));
        let twice = write_parts("", Target::Pipe4, &mut io::sink(), &mut |parts| {
            parts.take_transition(transition());
            parts.take_transition(transition());
        });
        assert!(twice.unwrap_err().to_string().contains("defined twice"));
    }
}
