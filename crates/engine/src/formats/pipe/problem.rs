//! Problems and warnings of a file, with their positions: a file with problems is refused, a file with warnings is not.

use std::cell::OnceCell;
use std::fmt;
use std::ops::Range;

use crate::net::{BuildProblem, GuardError, LawProblem};

/// A position in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Range of bytes in the decoded text ([`decode`](crate::formats::pipe::decode)), without a byte order mark.
    pub span: Range<usize>,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Reason why a file is not a readable net. The documentation of a variant states the remedy unless it is obvious.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are the words of the message")]
pub enum Fault {
    /// The file is larger than [`max_bytes`](crate::formats::pipe::ReadOptions::max_bytes).
    #[error("the file has {bytes} bytes, more than the limit of {limit}")]
    TooLarge { bytes: usize, limit: usize },
    /// Elements nest deeper than [`max_depth`](crate::formats::pipe::ReadOptions::max_depth).
    #[error("elements are nested deeper than the limit of {limit}")]
    TooDeep { limit: usize },
    /// More elements than [`max_nodes`](crate::formats::pipe::ReadOptions::max_nodes).
    #[error("more than {limit} elements, the limit")]
    TooManyNodes { limit: usize },
    /// The XML declaration names an unsupported encoding. Save the file as UTF-8.
    #[error("encoding `{name}` is not supported; save the file as UTF-8, ISO-8859-1, windows-1252 or UTF-16")]
    UnknownEncoding { name: String },
    /// Bytes that are not valid text in the file's encoding.
    #[error("byte {byte:#04x} is not valid text in {encoding}")]
    BadBytes { byte: u8, encoding: &'static str },
    /// An unexpected word of a text format.
    #[error("expected {expected}, not `{found}`")]
    Unexpected { expected: &'static str, found: String },
    /// The file is not well-formed XML.
    #[error("not well-formed XML: {reason}")]
    Malformed { reason: String },
    /// An entity that XML does not predefine; definitions in a DOCTYPE are not followed.
    #[error("entity `&{name};` is not expanded; write the character itself")]
    Entity { name: String },
    /// The file has no element at all.
    #[error("the file is empty; expected {expected}")]
    Empty { expected: &'static str },
    /// The root is not `<pnml>`.
    #[error("the root element is `<{found}>`, not `<pnml>`")]
    WrongRoot { found: String },
    /// There is no `<net>` in the file.
    #[error("there is no `<net>` in the file")]
    NoNet,
    /// A project without a Petri net.
    #[error(
        "the project has no Petri net page, so there is nothing to read; add a net (`<gspn>`) in GreatSPN's editor"
    )]
    NoNetPage,
    /// A file of another tool.
    #[error("this is {what}; {advice}")]
    OtherTool { what: &'static str, advice: &'static str },
    /// A file with several nets, without a choice in [`ReadOptions::net`](crate::formats::pipe::ReadOptions::net).
    #[error("the file has several nets: {names}; choose one (option `net`)")]
    SeveralNets { names: String },
    /// The file has no net with the requested name.
    #[error("there is no net `{name}` in the file; available: {names}")]
    UnknownNet { name: String, names: String },
    /// A constant that has no value in the file. Set it in [`ReadOptions::constants`](crate::formats::pipe::ReadOptions::constants).
    #[error("`{name}` has no value in the file; set it (option `constants`)")]
    NoValue { name: String },
    /// A net that is not a place/transition net.
    #[error("net type `{name}` is not a place/transition net")]
    NetType { name: String },
    /// A part of a formalism that is not read: ages, games, colours, time intervals, reset arcs, data guards.
    #[error("{what}; tailspn does not read {formalism}")]
    Formalism { what: String, formalism: &'static str },
    /// A part without a required id.
    #[error("a {kind} has no id")]
    MissingId { kind: &'static str },
    /// Two parts of a kind have the same id. Rename one.
    #[error("{kind} `{id}` is defined twice; the first is on line {first_line}")]
    DuplicateId { kind: &'static str, id: String, first_line: usize },
    /// An arc end that is neither a place nor a transition.
    #[error("{end} `{id}` of arc `{arc}` is neither a place nor a transition of the file")]
    UnknownNode { arc: String, end: &'static str, id: String },
    /// An arc between two places or two transitions.
    #[error("arc `{arc}` joins two {kind}; an arc joins a place and a transition")]
    SameKind { arc: String, kind: &'static str },
    /// Both ends may be a place or a transition, because ids are used twice. Rename one.
    #[error(
        "arc `{arc}` has no clear direction: `{source_id}` and `{target}` each name a place and a transition; rename the place or the transition"
    )]
    AmbiguousArc { arc: String, source_id: String, target: String },
    /// An inhibitor arc that leaves a transition.
    #[error("inhibitor arc `{arc}` goes from a transition to a place; it must start at a place")]
    InhibitorFromTransition { arc: String },
    /// Text that is not a number.
    #[error("{what}: `{text}` is not {expected}")]
    BadNumber { what: String, text: String, expected: &'static str },
    /// Text that is not a truth value.
    #[error("{what}: `{text}` is neither true nor false")]
    BadBoolean { what: String, text: String },
    /// A token class that is not declared, if the file is read as PIPE 4.3 does.
    #[error("{what}: token class `{class}` is not declared")]
    UndeclaredClass { what: String, class: String },
    /// A rate, weight or arc weight that is not an expression.
    #[error("{what}: {reason}")]
    Expression { what: String, reason: String },
    /// A reference node that refers to nothing, or to itself through other nodes.
    #[error("reference `{id}` refers to `{target}`, which is not a {kind}")]
    Reference { id: String, target: String, kind: &'static str },
    /// A `<?tailspn …?>` instruction with an invalid value.
    #[error("invalid instruction `{key}=\"{value}\"`: {reason}")]
    Instruction { key: String, value: String, reason: String },
    /// A delay distribution in a `<?tailspn …?>` instruction with invalid parameters.
    #[error("the delay distribution is invalid: {0}")]
    Law(LawProblem),
    /// The file is not well-formed JSON.
    #[error("not well-formed JSON: {reason}")]
    Json { reason: String },
    /// A part of a JANI model that cannot be read; the message says what to change.
    #[error("{reason} (at {pointer})")]
    Jani { pointer: String, reason: String },
    /// The parts do not form a net.
    #[error("{0}")]
    Build(BuildProblem),
    /// A guard of a transition without a rate.
    #[error("{0}")]
    Guard(GuardError),
}

/// One problem of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadProblem {
    /// The position of the fault.
    pub spot: Spot,
    /// The fault.
    pub fault: Fault,
}

impl fmt::Display for ReadProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.spot, self.fault)
    }
}

/// Reason why a file was refused: every problem that was found, in the order of the file.
///
/// Checking stops at the first problem if the XML is malformed; otherwise all parts are checked.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadError {
    /// The problems, at least one.
    pub problems: Vec<ReadProblem>,
    /// Number of further problems that are not listed.
    pub more: usize,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.problems.iter().enumerate() {
            write!(f, "{}{problem}", if i > 0 { "\n" } else { "" })?;
        }
        if self.more > 0 {
            write!(f, "\nand {} more", self.more)?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadError {}

/// A warning about a file that can still be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Oddity {
    /// Immediate transitions with and without a priority.
    MissingPriority,
    /// An arc without a weight.
    MissingInscription,
    /// A transition without a rate.
    MissingRate,
    /// A truth value other than `true` and `false`.
    OddBoolean,
    /// An id or name that is used with a different letter case.
    LetterCase,
    /// A token class that is used but not declared.
    UndeclaredClass,
    /// A number without a token class, if `Default` is not the first class.
    PlainNumber,
    /// A decimal instead of a whole number.
    DecimalInteger,
    /// A decimal comma.
    DecimalComma,
    /// An arc id that is used twice.
    DuplicateArcId,
    /// An arc without an id.
    MissingArcId,
    /// A place and a transition with the same id.
    SharedId,
    /// A name that is the id of one place and the name of another.
    AmbiguousName,
    /// A rate parameter that does not exist.
    UnknownParameter,
    /// More than one net in the file.
    SeveralNets,
    /// An inhibitor arc of weight 0.
    InhibitorZero,
    /// Formulas, data types or data tokens of a high-level net.
    HighLevel,
    /// Elements without meaning in tailspn.
    ForeignElement,
    /// Data of another tool that may state times or weights, which are not read.
    UnreadTool,
    /// Measures of a project, which a net cannot store.
    Measures,
    /// A rate that depends on the marking, read as the total rate of all servers.
    MarkingRate,
    /// An unknown arc type.
    ArcType,
    /// Merge and interface marks of hierarchical nets.
    Hierarchy,
    /// A fixed delay of the AMAP dialect.
    FixedDelay,
    /// A tag of process-mining tools without a sign of the tool.
    ProcessWriter,
    /// Values of DICE.
    Dice,
    /// A PNML net has no times.
    Untimed,
    /// A net in which transitions compete by their weights before their delays start; in tailspn, the delays race.
    Preselection,
    /// Times, resources or probabilities of a workflow net that are not read.
    Workflow,
    /// An element that contradicts a `<?tailspn …?>` instruction of the same part.
    Contradiction,
    /// An unknown key of a `<?tailspn …?>` instruction.
    UnknownKey,
    /// Text that is not in the declared encoding.
    Encoding,
    /// A part of a drawing that a net cannot store.
    Dropped,
    /// A priority that has no effect and is not stored.
    TimedPriority,
    /// Infinite servers of an immediate transition, which have no effect and are not stored.
    ImmediateServers,
}

/// A warning about a file, with the interpretation of the input. One value stands for all warnings of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Kind of the warning.
    pub oddity: Oddity,
    /// Position of the first occurrence.
    pub spot: Spot,
    /// Description of the problem and its interpretation.
    pub message: String,
    /// Number of further occurrences.
    pub others: usize,
}

impl Warning {
    /// Returns true if the warning states an assumption about times, weights or conditions, on which all results depend.
    pub fn is_assumption(&self) -> bool {
        matches!(
            self.oddity,
            Oddity::MissingPriority
                | Oddity::MissingRate
                | Oddity::UnknownParameter
                | Oddity::HighLevel
                | Oddity::MarkingRate
                | Oddity::FixedDelay
                | Oddity::ProcessWriter
                | Oddity::Dice
                | Oddity::UnreadTool
                | Oddity::Untimed
                | Oddity::Preselection
                | Oddity::Workflow
        )
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.spot, self.message)?;
        if self.others > 0 { write!(f, " (and {} more)", self.others) } else { Ok(()) }
    }
}

/// The line and column of some bytes of a text.
#[cfg(feature = "jani")]
pub(crate) fn spot(text: &str, span: Range<usize>) -> Spot {
    Lines::new(text).spot(span)
}

/// Turns byte offsets of one text into lines and columns.
#[derive(Debug)]
pub(crate) struct Lines<'t> {
    text: &'t str,
    /// First byte of each line; computed only when a line is needed.
    starts: OnceCell<Vec<usize>>,
}

impl<'t> Lines<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, starts: OnceCell::new() }
    }

    fn starts(&self) -> &[usize] {
        self.starts.get_or_init(|| {
            let newlines = self.text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
            std::iter::once(0).chain(newlines).collect()
        })
    }

    pub(crate) fn line(&self, offset: usize) -> usize {
        self.starts().partition_point(|&start| start <= offset)
    }

    pub(crate) fn spot(&self, span: Range<usize>) -> Spot {
        let mut at = span.start.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        let line = self.line(at);
        let column = self.text[self.starts()[line - 1]..at].chars().count() + 1;
        Spot { line, column, span }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let lines = Lines::new("ab\näö<x>\n");
        let spot = lines.spot(7..10);
        assert_eq!((spot.line, spot.column), (2, 3));
        assert_eq!(lines.spot(0..0).to_string(), "line 1, column 1");
        assert_eq!(lines.spot(99..99).line, 3);
    }
}
