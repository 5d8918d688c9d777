//! Reads PIPE XML, its relatives, and PNML 2009 place/transition nets.

use crate::formats::pipe::assemble::Assembler;
use crate::formats::pipe::collect::Collector;
use crate::formats::pipe::dialect::Dialect;
use crate::formats::pipe::edited::note_contradictions;
use crate::formats::pipe::encoding::decode_noting;
use crate::formats::pipe::join::Joiner;
use crate::formats::pipe::notes::Notes;
use crate::formats::pipe::options::{ReadOptions, Reading};
use crate::formats::pipe::problem::{Fault, Oddity, ReadError, Warning};
use crate::formats::pipe::spans::Spans;
use crate::formats::pipe::xml::{PNML, stream};
use crate::net::Net;
use crate::query::Property;

/// A net that was read, and the warnings about its file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ReadNet {
    /// The net.
    pub net: Net,
    /// Kind of program that wrote the file.
    pub dialect: Dialect,
    /// Warnings, in the order of the file.
    pub warnings: Vec<Warning>,
    /// The constants of [`ReadOptions::constants`] that the file has.
    pub taken: Vec<String>,
    /// The properties of a JANI model; other formats have none.
    pub properties: Vec<Property>,
}

/// Reads a net from the bytes of a file.
///
/// ```
/// use tailspn_engine::formats::pipe::{ReadOptions, read};
///
/// let xml = r#"<pnml><net>
///     <place id="P0"><initialMarking><value>Default,3</value></initialMarking></place>
///     <transition id="T0"><rate><value>2*#(P0)</value></rate><timed><value>true</value></timed></transition>
///     <arc id="a" source="P0" target="T0"><inscription><value>1</value></inscription></arc>
/// </net></pnml>"#;
/// let read = read(xml.as_bytes(), &ReadOptions::default()).unwrap();
/// assert_eq!(read.net.places()[0].initial, [3]);
/// assert!(read.warnings.is_empty());
/// ```
///
/// # Errors
///
/// Everything that is wrong with the file, each with line and column. Reading stops at XML that is not well-formed.
pub fn read(bytes: &[u8], options: &ReadOptions) -> Result<ReadNet, ReadError> {
    let (text, wrong_encoding) = decode_noting(bytes, options.max_bytes)?;
    let mut notes = Notes::new(&text);
    if wrong_encoding {
        let at = text.char_indices().find(|(_, c)| !c.is_ascii()).map_or(0, |(i, _)| i);
        notes.odd(at..at + 1, Oddity::Encoding, || {
            "the text is not in the declared encoding, UTF-8; it is read as windows-1252".to_owned()
        });
    }
    let mut collector = Collector::new(&mut notes, options);
    let streamed = stream(&text, &PNML, options, &mut |item| collector.visit(item));
    collector.join_components();
    let mut raw = collector.net;
    if let Err((span, fault)) = streamed {
        notes.fault(span, fault);
        return Err(notes.into_error());
    }
    if raw.nets == 0 {
        notes.fault(0..0, Fault::NoNet);
    }
    let dialect = raw.traces.dialect();
    let mut assembler = Assembler::new(&raw, &mut notes, options);
    assembler.nodes(&mut raw);
    Joiner::new(&mut assembler).arcs(&raw);
    let spans = if raw.instructed { std::mem::take(&mut assembler.spans) } else { Spans::default() };
    let net = assembler.build();
    if let Some(net) = net.as_ref().filter(|_| raw.instructed && !notes.refused()) {
        let as_pipe = ReadOptions { instructions: Reading::Pipe43, ..options.clone() };
        note_contradictions(bytes, net, &spans, &mut notes, |bytes| Some(read(bytes, &as_pipe).ok()?.net));
    }
    match net {
        Some(net) if !notes.refused() => {
            Ok(ReadNet { net, dialect, warnings: notes.into_warnings(), taken: Vec::new(), properties: Vec::new() })
        }
        _ => Err(notes.into_error()),
    }
}
