//! Reads a large file whose text is never in memory as a whole.
//!
//! A part becomes a part of the net as soon as it is read. This needs the order in which PIPE and tailspn write: token
//! classes, rate parameters and places, then transitions, then arcs. A file in another order, and a file that needs a message,
//! is left to [`read()`](crate::formats::pipe::read()), which has the text for the message.

use std::cell::Cell;
use std::io::{self, BufReader, Read};

use crate::formats::pipe::assemble::Assembler;
use crate::formats::pipe::collect::Collector;
use crate::formats::pipe::encoding::decode;
use crate::formats::pipe::join::Joiner;
use crate::formats::pipe::notes::Notes;
use crate::formats::pipe::options::{ReadOptions, Reading};
use crate::formats::pipe::raw::{RawArc, RawNet, RawTransition};
use crate::formats::pipe::read::ReadNet;
use crate::formats::pipe::spans::Spans;
use crate::formats::pipe::xml::{PNML, stream_from};

/// Reads a net from a file as [`read()`](crate::formats::pipe::read()) does, in memory for the net only.
///
/// `None` if the whole text is needed: for a message, for `<?tailspn …?>` instructions of parts, for parts in another order
/// than PIPE's, for text beyond ASCII.
///
/// ```
/// use tailspn_engine::formats::pipe::{ReadOptions, read_plain};
///
/// let xml = r#"<pnml><net>
///     <place id="P0"><initialMarking><value>Default,3</value></initialMarking></place>
///     <transition id="T0"><rate><value>2*#(P0)</value></rate><timed><value>true</value></timed></transition>
///     <arc id="a" source="P0" target="T0"><inscription><value>1</value></inscription></arc>
/// </net></pnml>"#;
/// let read = read_plain(xml.as_bytes(), &ReadOptions::default()).unwrap();
/// assert_eq!(read.net.places()[0].initial, [3]);
/// assert!(read_plain(xml.replace("3<", "x<").as_bytes(), &ReadOptions::default()).is_none());
/// ```
pub fn read_plain(mut input: impl Read, options: &ReadOptions) -> Option<ReadNet> {
    let mut head = Vec::new();
    input.by_ref().take(HEAD).read_to_end(&mut head).ok()?;
    // an unknown encoding is refused
    decode(&head).ok()?;
    let input = head.chain(input);
    let (mut collected, mut assembled) = (Notes::new(""), Notes::new(""));
    let mut collector = Collector::new(&mut collected, options);
    let mut parts = Parts::new(&mut assembled, options);
    let is_over = Cell::new(false);
    let input = BufReader::with_capacity(BUFFER, Ascii { input, left: options.max_bytes, is_over: &is_over });
    let streamed = stream_from(input, &PNML, options, &mut |item| {
        collector.visit(item);
        parts.take(&mut collector.net);
        let traces = &collector.net.traces;
        is_over.set(parts.is_odd || !collector.notes.is_empty() || traces.pnml_2009 || traces.pnml_type);
    });
    let mut raw = collector.net;
    let (dialect, is_foreign) = (raw.traces.dialect(), raw.traces.untimed() || raw.traces.tapaal);
    let is_whole = streamed.is_ok() && raw.nets == 1 && !is_foreign;
    let net = parts.finish(&mut raw).filter(|_| is_whole && collected.is_empty() && assembled.is_empty())?;
    Some(ReadNet { net, dialect, warnings: Vec::new(), taken: Vec::new(), properties: Vec::new() })
}

/// Number of bytes that contain the XML declaration.
const HEAD: u64 = 1 << 10;

/// Number of bytes that are read together.
const BUFFER: usize = 1 << 18;

/// Passes on ASCII without control characters, and ends with an error elsewhere.
struct Ascii<'a, R> {
    input: R,
    /// Number of bytes that the file may still have.
    left: usize,
    /// True if the rest of the file is not needed.
    is_over: &'a Cell<bool>,
}

impl<R: Read> Read for Ascii<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_over.get() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let read = self.input.read(buffer)?;
        let fine = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r');
        self.left = self.left.checked_sub(read).ok_or(io::ErrorKind::FileTooLarge)?;
        // without an early exit, this is many times faster
        let all = buffer[..read].iter().fold(true, |all, byte| all & fine(byte));
        if all { Ok(read) } else { Err(io::ErrorKind::InvalidData.into()) }
    }
}

/// Kind of the last part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Start,
    Places,
    Transitions,
    Arcs,
}

/// The parts of a net so far.
struct Parts<'n, 'o> {
    assembler: Assembler<'n, 'o, 'static>,
    section: Section,
    /// True if the whole text is needed.
    is_odd: bool,
    /// True if there are immediate transitions without and with a priority.
    priorities: [bool; 2],
}

impl<'n, 'o> Parts<'n, 'o> {
    fn new(notes: &'n mut Notes<'static>, options: &'o ReadOptions) -> Self {
        let assembler = Assembler::new(&RawNet::default(), notes, options);
        // PIPE 4.3 compares ids with those of all nodes
        let is_odd = options.id_case == Reading::Pipe43;
        Self { assembler, section: Section::Start, is_odd, priorities: [false; 2] }
    }

    /// Moves the parts of `raw` to the net.
    fn take(&mut self, raw: &mut RawNet<'static>) {
        // positions are only for messages
        self.assembler.spans = Spans::default();
        self.is_odd |= !self.assembler.notes.is_empty();
        self.is_odd |= raw.instructed || raw.traces.tapaal || !raw.references.is_empty() || !raw.renamed.is_empty();
        self.is_odd |= self.section > Section::Start && !raw.classes.is_empty();
        self.is_odd |= self.section > Section::Places && !(raw.places.is_empty() && raw.parameters.is_empty());
        if self.is_odd {
            *raw = RawNet { nets: raw.nets, ..RawNet::default() };
            return;
        }
        for place in std::mem::take(&mut raw.places) {
            self.begin(Section::Places, raw);
            self.assembler.place(&place);
        }
        for transition in std::mem::take(&mut raw.transitions) {
            self.begin(Section::Transitions, raw);
            self.transition(&transition);
        }
        for arc in std::mem::take(&mut raw.arcs) {
            self.begin(Section::Arcs, raw);
            self.arc(&arc);
        }
    }

    /// Finishes the sections before a part of `section`.
    fn begin(&mut self, section: Section, raw: &mut RawNet<'static>) {
        self.is_odd |= section < self.section;
        if self.section == Section::Start {
            self.assembler.classes(std::mem::take(&mut raw.classes));
        }
        if self.section < Section::Transitions && section >= Section::Transitions {
            self.assembler.place_names();
            std::mem::take(&mut raw.parameters).iter().for_each(|parameter| self.assembler.parameter(parameter));
        }
        self.section = self.section.max(section);
    }

    fn transition(&mut self, raw: &RawTransition<'static>) {
        if raw.timed != Some(true) {
            self.priorities[usize::from(raw.priority.is_some())] = true;
        }
        self.assembler.transition(raw);
    }

    fn arc(&mut self, raw: &RawArc<'static>) {
        match &raw.id {
            Some(id) => Joiner::new(&mut self.assembler).arc(raw, id.value.clone().into_owned()),
            None => self.is_odd = true,
        }
    }

    /// The net, unless something is odd.
    fn finish(mut self, raw: &mut RawNet<'static>) -> Option<crate::net::Net> {
        self.begin(Section::Arcs, raw);
        self.assembler.builder.set_name(std::mem::take(&mut raw.name));
        self.assembler.notes_and_groups(raw);
        if self.is_odd || self.priorities == [true; 2] { None } else { self.assembler.build() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::pipe::corpus::{probes, real, shared_nets};
    use crate::formats::pipe::{WriteOptions, read, write};
    use crate::net::{NetBuilder, Point, Timing};

    /// Compares the two readers; returns true if this one reads the file.
    pub(in crate::formats::pipe) fn agree(bytes: &[u8]) -> bool {
        let plain = read_plain(bytes, &ReadOptions::default());
        if let Some(plain) = &plain {
            let whole = read(bytes, &ReadOptions::default()).unwrap();
            assert_eq!((&plain.net, plain.dialect, &[][..]), (&whole.net, whole.dialect, &whole.warnings[..]));
        }
        plain.is_some()
    }

    #[test]
    fn plain_reader_agrees_with_the_full_reader_on_collected_nets() {
        let Some(nets) = shared_nets() else { return };
        let files = probes(&nets).into_iter().map(|(_, path)| path).chain(real(&nets));
        let [plain, others] = files.fold([0, 0], |[plain, others], path| {
            if agree(&std::fs::read(path).unwrap()) { [plain + 1, others] } else { [plain, others + 1] }
        });
        assert!(plain > 100 && others > 20, "{plain} {others}");
    }

    /// A file with every element that is read part by part.
    const PLAIN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<pnml><net id="n"><token id="Default" enabled="true" red="0" green="0" blue="0"/><token id="Red" enabled="true"/>
<definition id="k" name="k" expression="2.5"/><labels x="1" y="2" border="true"><text>a &lt; b</text></labels>
<place id="p"><name><value>first</value></name><initialMarking><value>Default,3,Red,1</value></initialMarking></place>
<place id="q"><capacity><value>7</value></capacity></place>
<transition id="t"><rate><value>k*#(first)</value></rate><timed><value>true</value></timed></transition>
<transition id="u"><rate><value>2</value></rate><timed><value>false</value></timed><priority><value>2</value></priority></transition>
<arc id="a" source="p" target="t"><inscription><value>Default,1,Red,#(q)+1</value></inscription></arc>
<arc id="b" source="t" target="q"><inscription><value>2</value></inscription><type value="normal"/></arc>
<arc id="c" source="q" target="u"><inscription><value>1</value></inscription><type value="inhibitor"/></arc>
<stategroup id="g"><name><value>full</value></name><statecondition><value>p > 1</value></statecondition></stategroup>
</net></pnml>"#;

    /// One byte of the file is changed, or the file ends early.
    #[test]
    fn plain_reader_agrees_or_declines_on_damaged_files() {
        assert!(agree(PLAIN.as_bytes()));
        let mut read = 0;
        for at in 0..PLAIN.len() {
            for byte in [b'<', b'&', b'"', b' ', b'9', b'p', b',', 0, 0xC3] {
                let mut bytes = PLAIN.as_bytes().to_vec();
                bytes[at] = byte;
                read += usize::from(agree(&bytes));
            }
            agree(&PLAIN.as_bytes()[..at]);
        }
        assert!(read > 500, "{read}");
    }

    #[test]
    fn plain_reader_declines_files_in_another_order() {
        let mut b = NetBuilder::new("job");
        let p = b.place("p", 1);
        let t = b.transition("t", Timing::exponential(2.0));
        b.input(p, t, 1.0);
        // without positions, the parts have instructions
        (b.place_mut(p).position, b.transition_mut(t).position) = (Some(Point::default()), Some(Point::default()));
        let xml = write(&b.build().unwrap(), &WriteOptions::default()).xml;
        let net = |xml: &str| Some(read_plain(xml.as_bytes(), &ReadOptions::default())?.net);
        assert_eq!(net(&xml), Some(read(xml.as_bytes(), &ReadOptions::default()).unwrap().net));
        let line = |start: &str| xml.lines().find(|line| line.starts_with(start)).unwrap();
        for (part, before) in
            [("<arc", "<place"), ("<transition", "<place"), ("<arc", "<transition"), ("<place", "<token")]
        {
            let (part, before) = (line(part), line(before));
            let moved = xml.replace(part, "").replace(before, &format!("{part}\n{before}"));
            assert!(net(&moved).is_none() && read(moved.as_bytes(), &ReadOptions::default()).is_ok(), "{moved}");
        }
    }
}
