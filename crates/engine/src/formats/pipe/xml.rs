//! A stream of the parts of a file. Each part is a small tree whose texts know their position in the file.
//!
//! Nets and pages are opened and closed; everything directly inside them (a place, an arc, …) is one part. Only one
//! part is in memory at a time, so a file may be large. Entities that a DOCTYPE defines are never expanded.

use std::borrow::Cow;
use std::io::BufRead;
use std::ops::Range;

use quick_xml::Reader;
use quick_xml::escape::{EscapeError, unescape};
use quick_xml::events::attributes::Attributes;
use quick_xml::events::{BytesRef, Event};

use crate::formats::pipe::escape::writable;
use crate::formats::pipe::options::{ReadOptions, Reading};
use crate::formats::pipe::problem::Fault;

/// Name of the nodes for `<?tailspn …?>` instructions.
pub(crate) const INSTRUCTION: &str = "?tailspn";

/// A text and the bytes it was written in.
#[derive(Clone, Debug)]
pub(crate) struct Text<'t> {
    pub(crate) value: Cow<'t, str>,
    pub(crate) span: Range<usize>,
}

impl Text<'_> {
    /// The same text without surrounding blanks.
    pub(crate) fn trimmed(self) -> Self {
        let lead = self.value.len() - self.value.trim_start().len();
        let tail = self.value.len() - self.value.trim_end().len();
        let whole = self.span.len() == self.value.len() && lead < self.value.len();
        let span = if whole { self.span.start + lead..self.span.end - tail } else { self.span };
        let value = match self.value {
            Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
            Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
        };
        Self { value, span }
    }
}

#[derive(Debug)]
struct Attribute<'t> {
    name: Cow<'t, str>,
    value: Text<'t>,
}

const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct Node<'t> {
    name: Cow<'t, str>,
    tag: Range<usize>,
    attributes: Range<usize>,
    text: Option<Text<'t>>,
    first_child: u32,
    last_child: u32,
    next: u32,
}

/// The nodes of one part, in the order of the file; its vectors are reused for the next part.
#[derive(Debug, Default)]
struct Tree<'t> {
    nodes: Vec<Node<'t>>,
    attributes: Vec<Attribute<'t>>,
}

/// An element or an instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'a, 't> {
    tree: &'a Tree<'t>,
    index: u32,
}

impl<'a, 't> Element<'a, 't> {
    fn node(self) -> &'a Node<'t> {
        &self.tree.nodes[self.index as usize]
    }

    /// Name of the element without a namespace prefix.
    pub(crate) fn name(self) -> &'a str {
        &self.node().name
    }

    /// The bytes of the element's start tag.
    pub(crate) fn span(self) -> Range<usize> {
        self.node().tag.clone()
    }

    /// The child elements and instructions, in order.
    pub(crate) fn children(self) -> impl Iterator<Item = Element<'a, 't>> {
        let mut next = self.node().first_child;
        std::iter::from_fn(move || {
            let child = Element { tree: self.tree, index: next };
            (next != NONE).then(|| {
                next = child.node().next;
                child
            })
        })
    }

    /// The first child element of this name.
    pub(crate) fn child(self, name: &str) -> Option<Element<'a, 't>> {
        self.children().find(|c| c.name() == name)
    }

    /// An attribute, as written.
    pub(crate) fn attribute(self, name: &str) -> Option<Text<'t>> {
        self.attributes().find(|(n, _)| *n == name).map(|(_, value)| value.clone())
    }

    /// All attributes, in order.
    pub(crate) fn attributes(self) -> impl Iterator<Item = (&'a str, &'a Text<'t>)> {
        self.tree.attributes[self.node().attributes.clone()].iter().map(|a| (&*a.name, &a.value))
    }

    /// The text directly in the element.
    pub(crate) fn text(self) -> Option<Text<'t>> {
        self.node().text.clone()
    }

    /// The trimmed text of the child `<value>` or `<text>`; an empty text if that child is empty.
    pub(crate) fn value(self) -> Option<Text<'t>> {
        let value = self.child("value").or_else(|| self.child("text"))?;
        let empty = || Text { value: Cow::Borrowed(""), span: value.span() };
        // Jarp writes a <value> inside a <text>
        let inner = value.child("value").unwrap_or(value);
        Some(inner.text().map_or_else(empty, Text::trimmed))
    }

    /// The value of the child `name`, if there is one.
    pub(crate) fn child_value(self, name: &str) -> Option<Text<'t>> {
        self.child(name)?.value()
    }
}

/// Elements of a file format that are opened and closed rather than passed as a whole.
#[derive(Debug)]
pub(crate) struct Outline {
    /// The root element.
    pub(crate) root: &'static str,
    /// The nested elements.
    pub(crate) containers: &'static [&'static str],
}

/// PNML, and PIPE's XML.
pub(crate) const PNML: Outline = Outline { root: "pnml", containers: &["net", "page", "module"] };

/// An item of a file, in file order.
#[derive(Debug)]
pub(crate) enum Item<'a, 't> {
    /// The root or another container starts.
    Open(Element<'a, 't>),
    /// The innermost open container ends.
    Close,
    /// An element directly in a container, or a `<?tailspn …?>` instruction.
    Part(Element<'a, 't>),
}

/// The fault that stops a stream, and its bytes.
type Stop = (Range<usize>, Fault);

/// Calls `visit` for everything in `text`, in order.
///
/// # Errors
///
/// The first element that is not well-formed or exceeds a limit.
pub(crate) fn stream<'t>(
    text: &'t str,
    outline: &Outline,
    options: &ReadOptions,
    visit: &mut impl FnMut(Item<'_, 't>),
) -> Result<(), Stop> {
    check_characters(text)?;
    let mut streamer = Streamer::new(text, outline, options);
    let mut reader = Reader::from_str(text);
    while !streamer.finished {
        let start = position(reader.buffer_position());
        let event = reader.read_event().map_err(|error| malformed(&error, reader.error_position()))?;
        streamer.take(event, start..position(reader.buffer_position()), visit)?;
    }
    Ok(())
}

/// As [`stream`], for a text that is not in memory as a whole and that has only characters that XML allows.
///
/// # Errors
///
/// As [`stream`], and an error of `input`.
pub(crate) fn stream_from(
    input: impl BufRead,
    outline: &Outline,
    options: &ReadOptions,
    visit: &mut impl FnMut(Item<'_, 'static>),
) -> Result<(), Stop> {
    let mut streamer = Streamer::new("", outline, options);
    let mut reader = Reader::from_reader(input);
    let mut buffer = Vec::new();
    while !streamer.finished {
        buffer.clear();
        let start = position(reader.buffer_position());
        let event = reader.read_event_into(&mut buffer);
        let event = event.map_err(|error| malformed(&error, reader.error_position()))?;
        streamer.take(event, start..position(reader.buffer_position()), visit)?;
    }
    Ok(())
}

fn malformed(error: &quick_xml::Error, at: u64) -> Stop {
    let at = position(at);
    (at..at + 1, Fault::Malformed { reason: error.to_string() })
}

/// Number of bytes that are scanned together.
const BLOCK: usize = 256;

/// Refuses characters that XML 1.0 does not allow even as character references.
fn check_characters(text: &str) -> Result<(), Stop> {
    let control = |b: &u8| *b < b' ' && !matches!(*b, b'\t' | b'\n' | b'\r');
    // scanning whole blocks without an early exit is many times faster
    let block = text.as_bytes().chunks(BLOCK).position(|block| block.iter().fold(false, |found, b| found | control(b)));
    let control = block.and_then(|i| text.bytes().skip(i * BLOCK).position(|b| control(&b)).map(|at| i * BLOCK + at));
    match control.or_else(|| text.find(['\u{FFFE}', '\u{FFFF}'])) {
        Some(at) => Err((at..at + 1, forbidden(&text[at..]))),
        None => Ok(()),
    }
}

/// The fault of a text that starts with a character that XML does not allow.
fn forbidden(text: &str) -> Fault {
    let code = text.chars().next().map_or(0, u32::from);
    Fault::Malformed { reason: format!("XML does not allow the character U+{code:04X}") }
}

fn position(at: u64) -> usize {
    usize::try_from(at).expect("the text is in memory")
}

struct Streamer<'o, 't> {
    /// The whole text; empty if it is not in memory.
    text: &'t str,
    outline: &'o Outline,
    options: &'o ReadOptions,
    tree: Tree<'t>,
    /// Open elements of the part.
    part: Vec<u32>,
    /// Start tags of all open elements.
    open: Vec<Range<usize>>,
    /// Number of containers among the open elements; they come first.
    containers: usize,
    nodes: usize,
    root_closed: bool,
    finished: bool,
}

impl<'o, 't> Streamer<'o, 't> {
    fn new(text: &'t str, outline: &'o Outline, options: &'o ReadOptions) -> Self {
        Self {
            text,
            outline,
            options,
            tree: Tree::default(),
            part: Vec::new(),
            open: Vec::new(),
            containers: 0,
            nodes: 0,
            root_closed: false,
            finished: false,
        }
    }

    fn take(&mut self, event: Event<'_>, span: Range<usize>, visit: &mut impl FnMut(Item<'_, 't>)) -> Result<(), Stop> {
        match event {
            Event::Start(tag) => self.begin(tag.name().0, tag.attributes(), span, visit)?,
            Event::Empty(tag) => {
                self.begin(tag.name().0, tag.attributes(), span, visit)?;
                self.end(visit);
            }
            Event::End(_) => self.end(visit),
            Event::Text(content) => self.text(&content.xml10_content(), span)?,
            Event::CData(content) => self.text(&content.xml10_content(), span)?,
            Event::GeneralRef(reference) => self.reference(&reference, span)?,
            Event::PI(pi) if pi.target() == "tailspn" && self.options.instructions == Reading::Sensible => {
                self.begin(INSTRUCTION, pi.attributes(), span, visit)?;
                self.end(visit);
            }
            Event::Eof => self.finish()?,
            Event::PI(_) | Event::Decl(_) | Event::Comment(_) | Event::DocType(_) => {}
        }
        Ok(())
    }

    fn begin(
        &mut self,
        name: &str,
        attributes: Attributes<'_>,
        span: Range<usize>,
        visit: &mut impl FnMut(Item<'_, 't>),
    ) -> Result<(), Stop> {
        let local = name.rsplit(':').next().unwrap_or(name);
        self.check(local, &span)?;
        let container = self.containers == self.open.len()
            && (self.open.is_empty() || self.outline.containers.contains(&local))
            && local != INSTRUCTION;
        if self.part.is_empty() {
            self.tree.nodes.clear();
            self.tree.attributes.clear();
        }
        let first = self.tree.attributes.len();
        self.attributes(attributes, &span)?;
        let index = u32::try_from(self.tree.nodes.len()).expect("fewer nodes than the limit");
        self.tree.nodes.push(Node {
            name: self.own(local),
            tag: span.clone(),
            attributes: first..self.tree.attributes.len(),
            text: None,
            first_child: NONE,
            last_child: NONE,
            next: NONE,
        });
        self.open.push(span);
        if container {
            self.containers += 1;
            visit(Item::Open(Element { tree: &self.tree, index }));
            return Ok(());
        }
        if let Some(&parent) = self.part.last() {
            self.link(parent, index);
        }
        self.part.push(index);
        Ok(())
    }

    fn check(&mut self, local: &str, span: &Range<usize>) -> Result<(), Stop> {
        self.nodes += 1;
        let stop = |fault| Err((span.clone(), fault));
        if self.nodes > self.options.max_nodes {
            return stop(Fault::TooManyNodes { limit: self.options.max_nodes });
        }
        if self.open.len() >= self.options.max_depth {
            return stop(Fault::TooDeep { limit: self.options.max_depth });
        }
        if self.open.is_empty() && local != INSTRUCTION {
            if self.root_closed {
                return stop(Fault::Malformed { reason: "a second root element".to_owned() });
            }
            if local != self.outline.root {
                return stop(Fault::WrongRoot { found: local.to_owned() });
            }
        }
        Ok(())
    }

    fn link(&mut self, parent: u32, child: u32) {
        let parent = &mut self.tree.nodes[parent as usize];
        let previous = parent.last_child;
        parent.last_child = child;
        if previous == NONE {
            parent.first_child = child;
        } else {
            self.tree.nodes[previous as usize].next = child;
        }
    }

    fn end(&mut self, visit: &mut impl FnMut(Item<'_, 't>)) {
        self.open.pop();
        if let Some(index) = self.part.pop() {
            if self.part.is_empty() {
                visit(Item::Part(Element { tree: &self.tree, index }));
            }
        } else {
            self.containers -= 1;
            self.root_closed = self.open.is_empty();
            visit(Item::Close);
        }
    }

    fn attributes(&mut self, attributes: Attributes<'_>, tag: &Range<usize>) -> Result<(), Stop> {
        for attribute in attributes {
            let attribute = attribute.map_err(|e| (tag.clone(), Fault::Malformed { reason: e.to_string() }))?;
            let span = self.source(&attribute.value).unwrap_or_else(|| tag.clone());
            let raw = &*attribute.value;
            let value = if raw.contains(['&', '\n', '\t', '\r']) {
                let raw = raw.replace(['\n', '\t', '\r'], " ");
                let value = unescape(&raw).map_err(|e| (span.clone(), bad_escape(e)))?;
                if let Some(at) = value.find(|c| !writable(c)) {
                    return Err((span, forbidden(&value[at..])));
                }
                Cow::Owned(value.into_owned())
            } else {
                self.own(raw)
            };
            let name = self.own(attribute.key.0);
            self.tree.attributes.push(Attribute { name, value: Text { value, span } });
        }
        Ok(())
    }

    /// A piece that lives as long as the text.
    fn own(&self, piece: &str) -> Cow<'t, str> {
        self.source(piece).map_or_else(|| Cow::Owned(piece.to_owned()), |range| Cow::Borrowed(&self.text[range]))
    }

    /// Position of a piece in the text in memory, if it is a slice of it.
    fn source(&self, piece: &str) -> Option<Range<usize>> {
        let start = piece.as_ptr().addr().checked_sub(self.text.as_ptr().addr())?;
        let range = start..start.checked_add(piece.len())?;
        self.text.get(range.clone()).map(|_| range)
    }

    fn text(&mut self, content: &str, span: Range<usize>) -> Result<(), Stop> {
        let Some(&current) = self.part.last() else {
            let stray = self.open.is_empty() && !content.trim().is_empty();
            let reason = "text outside the root element".to_owned();
            return if stray { Err((span, Fault::Malformed { reason })) } else { Ok(()) };
        };
        let node = &mut self.tree.nodes[current as usize];
        if node.first_child != NONE && content.trim().is_empty() {
            return Ok(());
        }
        match &mut node.text {
            Some(text) => {
                text.value.to_mut().push_str(content);
                text.span.end = span.end;
            }
            None => {
                let raw: Option<&'t str> = self.text.get(span.clone()).filter(|raw| *raw == content);
                let value = raw.map_or_else(|| Cow::Owned(content.to_owned()), Cow::Borrowed);
                node.text = Some(Text { value, span });
            }
        }
        Ok(())
    }

    fn reference(&mut self, reference: &BytesRef<'_>, span: Range<usize>) -> Result<(), Stop> {
        let resolved = reference.resolve_char_ref();
        let resolved = resolved.map_err(|e| (span.clone(), Fault::Malformed { reason: e.to_string() }))?;
        let c = match (resolved, &**reference) {
            (Some(c), _) => c,
            (None, "amp") => '&',
            (None, "lt") => '<',
            (None, "gt") => '>',
            (None, "quot") => '"',
            (None, "apos") => '\'',
            (None, name) => return Err((span, Fault::Entity { name: name.to_owned() })),
        };
        if !writable(c) {
            return Err((span, forbidden(c.encode_utf8(&mut [0; 4]))));
        }
        self.text(c.encode_utf8(&mut [0; 4]), span)
    }

    fn finish(&mut self) -> Result<(), Stop> {
        self.finished = true;
        if let Some(tag) = self.open.last() {
            let reason = "the file ends inside this element".to_owned();
            return Err((tag.clone(), Fault::Malformed { reason }));
        }
        if self.nodes == 0 { Err((0..0, Fault::Empty { expected: "a `<pnml>` element" })) } else { Ok(()) }
    }
}

fn bad_escape(error: EscapeError) -> Fault {
    match error {
        EscapeError::UnrecognizedEntity(_, name) => Fault::Entity { name },
        other => Fault::Malformed { reason: other.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(text: &str) -> Result<Vec<String>, Stop> {
        let mut lines = Vec::new();
        stream(text, &PNML, &ReadOptions::default(), &mut |item| {
            lines.push(match item {
                Item::Open(e) => format!("open {}", e.name()),
                Item::Close => "close".to_owned(),
                Item::Part(e) => {
                    let children: Vec<_> = e.children().map(Element::name).collect();
                    let value = e.value().map(|v| (v.value.into_owned(), &text[v.span]));
                    format!("part {} {:?} {children:?} {value:?}", e.name(), e.attribute("id").map(|t| t.value))
                }
            });
        })?;
        Ok(lines)
    }

    #[test]
    fn elements_keep_decoded_and_raw_text() {
        let text = "<pnml><net id='n'>\n<place id='a&amp;b'><name/><value> 1 &lt; 2 </value></place><x/></net></pnml>";
        assert_eq!(
            outline(text).unwrap(),
            [
                "open pnml",
                "open net",
                r#"part place Some("a&b") ["name", "value"] Some(("1 < 2", " 1 &lt; 2 "))"#,
                "part x None [] None",
                "close",
                "close"
            ]
        );
        assert!(
            outline("<pnml><net><p><value> 12 </value></p></net></pnml>").unwrap()[2]
                .ends_with(r#"Some(("12", "12"))"#)
        );
    }

    #[test]
    fn malformed_files_name_the_place() {
        let fault = |text| outline(text).unwrap_err();
        assert_eq!(fault(""), (0..0, Fault::Empty { expected: "a `<pnml>` element" }));
        assert_eq!(fault("<html/>").1, Fault::WrongRoot { found: "html".to_owned() });
        assert_eq!(fault("<pnml><net>").0, 6..11);
        assert!(matches!(fault("<pnml></pnml><pnml/>").1, Fault::Malformed { .. }));
        assert!(matches!(fault("hello").1, Fault::Malformed { .. }));
        assert_eq!(fault("<pnml><net><a b='&x;'/></net></pnml>"), (17..20, Fault::Entity { name: "x".to_owned() }));
        assert_eq!(fault("<pnml><net><a>&x;</a></net></pnml>").1, Fault::Entity { name: "x".to_owned() });
    }
}
