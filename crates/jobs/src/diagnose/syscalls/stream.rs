//! From lines to sums: joins interrupted calls, and adds each call to the sums of its node. Memory holds the sums and the open calls.

use std::collections::HashMap;

use crate::diagnose::syscalls::class::CallClass;
use crate::diagnose::syscalls::invocation::{Extremes, key};
use crate::diagnose::syscalls::line::{
    EPOCH, LineContent, Time, decorated_address, ending, inet_address, quoted, take_apart, unescaped,
};
use crate::diagnose::syscalls::observed::{Form, NodeCalls};
use crate::diagnose::syscalls::settings::ReadSettings;
use crate::diagnose::syscalls::table::Totals;
use crate::diagnose::syscalls::tally::Tally;
use crate::diagnose::syscalls::warning::{OddKind, Oddities};

/// Handling of single invocations while a log is read.
#[derive(Clone, Copy, Debug, Default)]
pub enum Invocations<'p> {
    /// Single invocations are ignored.
    #[default]
    Ignore,
    /// The extremes of each invocation are kept, for a profile.
    Learn,
    /// Invocations are compared with the extremes of a profile.
    Judge(&'p Extremes),
}

/// A call whose end has not been read yet.
struct Open {
    class: CallClass,
    arguments: Vec<u8>,
}

/// Maximum number of open calls: one for each thread. A text with more is not a log.
const MOST_OPEN: usize = 200_000;
/// Maximum number of different addresses.
const MOST_PEERS: usize = 10_000;

/// Reads one log.
pub(super) struct Stream<'s> {
    settings: &'s ReadSettings,
    invocations: Invocations<'s>,
    open: HashMap<u64, Open>,
    totals: Totals,
    in_table: bool,
    odd: Oddities,
    /// The sum of relative times (`-r`) so far.
    relative: f64,
    calls: NodeCalls,
}

impl<'s> Stream<'s> {
    pub(super) fn new(node: &str, file: &str, settings: &'s ReadSettings, invocations: Invocations<'s>) -> Self {
        let calls = NodeCalls {
            node: node.to_owned(),
            file: file.to_owned(),
            form: Form::Calls,
            classes: Default::default(),
            data_files: Tally::default(),
            peers: Default::default(),
            addresses: Default::default(),
            not_waited: 0,
            on_open_files: 0,
            span: None,
            extremes: Extremes::default(),
            outside: Default::default(),
            lines: Default::default(),
            cut: false,
            ends_early: false,
            odd: Vec::new(),
        };
        let (open, totals, odd) = (HashMap::new(), Totals::default(), Oddities::default());
        Self { settings, invocations, open, totals, in_table: false, odd, relative: 0.0, calls }
    }

    /// Returns true if no line so far was strace output.
    pub(super) fn saw_nothing(&self) -> bool {
        let lines = &self.calls.lines;
        lines.whole + lines.begun + lines.resumed + lines.rows == 0
    }

    /// Records a warning of the line reader.
    pub(super) fn odd(&mut self, kind: OddKind, text: &[u8]) {
        let line = self.calls.lines.lines + 1;
        self.calls.cut |= kind == OddKind::CutFile;
        self.odd.add(kind, line, text);
    }

    /// Processes a line; `whole` is true if the line ends with a line break.
    pub(super) fn line(&mut self, line: &[u8], whole: bool) {
        self.calls.lines.lines += 1;
        if self.in_table {
            self.row(line, whole);
            return;
        }
        let taken = take_apart(line);
        if let Some(time) = taken.time {
            self.note_time(time);
        }
        match taken.said {
            LineContent::Whole { name, rest } => {
                self.calls.lines.whole += 1;
                self.whole(taken.process, name, rest, line);
            }
            LineContent::Begins { name, rest } => {
                self.calls.lines.begun += 1;
                self.begins(taken.process, name, rest, line);
            }
            LineContent::Ends { name, rest } => {
                self.calls.lines.resumed += 1;
                self.ends(taken.process, name, rest, line);
            }
            LineContent::Signal => self.calls.lines.signals += 1,
            LineContent::Exit => {
                self.calls.lines.exits += 1;
                if let Some(open) = self.open.remove(&taken.process) {
                    self.never_ended(open.class);
                }
            }
            LineContent::Aside => {}
            LineContent::Table => {
                self.in_table = true;
                self.totals.head(line);
            }
            LineContent::Odd | LineContent::Cut if !whole => {
                self.calls.cut = true;
                self.odd.add(OddKind::CutCall, self.calls.lines.lines, line);
            }
            LineContent::Cut => self.odd.add(OddKind::CutCall, self.calls.lines.lines, line),
            LineContent::Odd => self.odd.add(OddKind::UnknownLine, self.calls.lines.lines, line),
        }
    }

    fn row(&mut self, line: &[u8], whole: bool) {
        match self.totals.row(line, whole) {
            Ok(true) => self.calls.lines.rows += 1,
            Ok(false) => {}
            Err(()) if !whole => self.odd.add(OddKind::CutRow, self.calls.lines.lines, line),
            Err(()) => self.odd.add(OddKind::BadRow, self.calls.lines.lines, line),
        }
    }

    fn note_time(&mut self, time: Time) {
        let seconds = match time {
            Time::Seconds(seconds) if seconds < EPOCH => {
                self.relative += seconds;
                return;
            }
            Time::Seconds(seconds) => seconds,
            // without a date it cannot be compared with other nodes
            Time::Clock(_) => return,
        };
        let span = self.calls.span.get_or_insert([seconds; 2]);
        *span = [span[0].min(seconds), span[1].max(seconds)];
    }

    fn whole(&mut self, process: u64, name: &[u8], rest: &[u8], line: &[u8]) {
        let Some(class) = CallClass::of_bytes(name) else { return };
        self.lose(process, line);
        match ending(rest) {
            Some(end) => self.ended(class, [end.arguments, b""], end.result, end.nanoseconds, line),
            // the tracer detached
            None => self.calls.classes[class.index()].calls += 1,
        }
    }

    fn begins(&mut self, process: u64, name: &[u8], rest: &[u8], line: &[u8]) {
        let Some(class) = CallClass::of_bytes(name) else { return };
        self.lose(process, line);
        if self.open.len() >= MOST_OPEN {
            return self.odd.add(OddKind::ManyOpen, self.calls.lines.lines, line);
        }
        self.open.insert(process, Open { class, arguments: rest.to_vec() });
    }

    fn ends(&mut self, process: u64, name: &[u8], rest: &[u8], line: &[u8]) {
        let Some(class) = CallClass::of_bytes(name) else { return };
        let open = match self.open.remove(&process) {
            Some(open) if open.class == class => open,
            other => {
                if let Some(open) = other {
                    self.open.insert(process, open);
                }
                return self.odd.add(OddKind::EndWithoutBeginning, self.calls.lines.lines, line);
            }
        };
        match ending(rest) {
            Some(end) => self.ended(class, [&open.arguments, end.arguments], end.result, end.nanoseconds, line),
            None => self.calls.classes[class.index()].calls += 1,
        }
    }

    /// Handles a call that is still open when its process calls again: the open call has no end in this log.
    fn lose(&mut self, process: u64, line: &[u8]) {
        if self.open.remove(&process).is_some() {
            self.odd.add(OddKind::BeginningWithoutEnd, self.calls.lines.lines, line);
        }
    }

    /// Takes a completed call.
    fn ended(&mut self, class: CallClass, arguments: [&[u8]; 2], result: &[u8], took: Option<u64>, line: &[u8]) {
        let path = class.is_about_files().then(|| quoted(arguments[0]).or_else(|| quoted(arguments[1]))).flatten();
        if class == CallClass::Stat && is_on_open_file(path, arguments) {
            self.calls.on_open_files += 1;
            return;
        }
        self.note_addresses(class, arguments, result);
        let failed = result.starts_with(b"-");
        let calls = &mut self.calls.classes[class.index()];
        calls.calls += 1;
        calls.errors += u64::from(failed);
        let Some(took) = took else {
            if !result.starts_with(b"?") {
                self.odd.add(OddKind::NoTime, self.calls.lines.lines, line);
            }
            return;
        };
        calls.timed.add(took);
        calls.histogram.add(self.settings.buckets.of(took));
        if let Some(path) = path
            && self.settings.data.holds(&full_path(path, arguments[0]))
        {
            self.calls.data_files.add(took);
        }
        let peer = matches!(class, CallClass::Connect | CallClass::Accept)
            .then(|| inet_address(arguments[0]).or_else(|| inet_address(arguments[1])))
            .flatten()
            .map(|address| String::from_utf8_lossy(address).into_owned());
        if class == CallClass::Connect {
            self.connected(peer.as_deref(), result, took, line);
        }
        self.invocation(class, arguments, result, took, peer, line);
    }

    /// Records a connection that was made, or only started.
    fn connected(&mut self, peer: Option<&str>, result: &[u8], took: u64, line: &[u8]) {
        if result.starts_with(b"-1 EINPROGRESS") {
            self.calls.not_waited += 1;
            return;
        }
        let Some(peer) = peer else { return };
        if let Some(tally) = self.calls.peers.get_mut(peer) {
            tally.add(took);
        } else if self.calls.peers.len() < MOST_PEERS {
            self.calls.peers.insert(peer.to_owned(), Tally { calls: 1, nanoseconds: took });
        } else {
            self.odd.add(OddKind::ManyPeers, self.calls.lines.lines, line);
        }
    }

    /// Records own addresses: the address to which a socket is bound, and the addresses shown by `-yy`.
    fn note_addresses(&mut self, class: CallClass, arguments: [&[u8]; 2], result: &[u8]) {
        let bound = || inet_address(arguments[0]).or_else(|| inet_address(arguments[1]));
        let own = match class {
            CallClass::Bind => bound(),
            CallClass::Accept => decorated_address(result),
            CallClass::Connect => decorated_address(arguments[0]),
            _ => None,
        };
        let Some(own) = own.filter(|own| !matches!(*own, b"0.0.0.0" | b"::" | b"127.0.0.1" | b"::1")) else { return };
        if self.calls.addresses.len() < MOST_PEERS {
            self.calls.addresses.insert(String::from_utf8_lossy(own).into_owned());
        }
    }

    fn invocation(
        &mut self,
        class: CallClass,
        arguments: [&[u8]; 2],
        result: &[u8],
        took: u64,
        peer: Option<String>,
        line: &[u8],
    ) {
        if matches!(self.invocations, Invocations::Ignore) {
            return;
        }
        let key = key(class, arguments, result, self.settings.matching);
        match self.invocations {
            Invocations::Ignore => {}
            Invocations::Learn => {
                if !self.calls.extremes.add(key, took, self.settings.most_invocations) {
                    self.odd.add(OddKind::ManyInvocations, self.calls.lines.lines, line);
                }
            }
            Invocations::Judge(extremes) => {
                let outside = &mut self.calls.outside;
                let Some(beyond) = extremes.beyond(key, took, self.settings.sides) else {
                    outside.unknown += 1;
                    return;
                };
                outside.classes[class.index()].add(beyond);
                if let Some(peer) = peer.filter(|p| outside.peers.len() < MOST_PEERS || outside.peers.contains_key(p)) {
                    outside.peers.entry(peer).or_default()[usize::from(class == CallClass::Accept)].add(beyond);
                }
            }
        }
    }

    /// Counts a call without an end, because its process or the log ended during the call.
    fn never_ended(&mut self, class: CallClass) {
        self.calls.lines.never_ended += 1;
        self.calls.classes[class.index()].calls += 1;
    }

    /// Returns the summary at the end of the log.
    pub(super) fn end(mut self) -> NodeCalls {
        let opened: Vec<CallClass> = std::mem::take(&mut self.open).into_values().map(|open| open.class).collect();
        opened.into_iter().for_each(|class| self.never_ended(class));
        let single = self.calls.lines.whole + self.calls.lines.begun > 0;
        if single && self.calls.lines.rows > 0 {
            self.odd.add(OddKind::TableAfterCalls, self.totals.line(), b"");
        }
        if single {
            let timed: u64 = self.calls.classes.iter().map(|class| class.timed.calls).sum();
            let all: u64 = self.calls.classes.iter().map(|class| class.calls).sum();
            self.calls.form = if timed == 0 && all > 0 { Form::Untimed } else { Form::Calls };
        } else if self.calls.lines.rows > 0 {
            if !self.totals.has_total() {
                self.calls.cut = true;
                self.odd.add(OddKind::TableWithoutTotal, self.calls.lines.lines, b"");
            }
            self.calls.classes = self.totals.classes().clone();
            self.calls.form = self.totals.form(self.settings.clock);
            let mut files = Tally::default();
            for class in [CallClass::Stat, CallClass::Access] {
                files.merge(self.calls.classes[class.index()].timed);
            }
            self.calls.data_files = files;
        }
        self.calls.odd = self.odd.into_list();
        if self.calls.form == Form::Untimed {
            // the form already states it for all calls
            self.calls.odd.retain(|odd| odd.kind != OddKind::NoTime);
        }
        self.calls
    }
}

impl std::fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("lines", &self.calls.lines).finish_non_exhaustive()
    }
}

/// Returns true if a call queries an open file: an empty path, or no path with the flag that allows it.
fn is_on_open_file(path: Option<&[u8]>, arguments: [&[u8]; 2]) -> bool {
    let has_flag = || arguments.iter().any(|part| part.windows(13).any(|window| window == b"AT_EMPTY_PATH"));
    path.map_or_else(has_flag, <[u8]>::is_empty)
}

/// Returns the full path: escapes decoded, and prefixed by the folder in an annotation (`-y`).
fn full_path(path: &[u8], arguments: &[u8]) -> Vec<u8> {
    let plain = if path.contains(&b'\\') { unescaped(path) } else { path.to_vec() };
    if plain.starts_with(b"/") {
        return plain;
    }
    let folder = arguments
        .iter()
        .position(|&byte| byte == b'<')
        .filter(|open| arguments[..*open].iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_'))
        .and_then(|open| {
            let end = arguments[open..].iter().position(|&byte| byte == b'>')? + open;
            Some(&arguments[open + 1..end])
        });
    match folder {
        Some(folder) => [folder, b"/", &plain].concat(),
        None => plain,
    }
}
