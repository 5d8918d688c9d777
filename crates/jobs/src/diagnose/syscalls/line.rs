//! Content of one line of `strace`: its prefix of process and time, and the rest. Nothing is copied.

/// A line without its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineContent<'l> {
    /// A complete call.
    Whole { name: &'l [u8], rest: &'l [u8] },
    /// A call that ends on a later line; `rest` is the printed part of its arguments.
    Begins { name: &'l [u8], rest: &'l [u8] },
    /// The end of a call that started earlier; `rest` starts where its arguments continue.
    Ends { name: &'l [u8], rest: &'l [u8] },
    /// A call truncated within the line.
    Cut,
    /// A signal.
    Signal,
    /// The end of a process.
    Exit,
    /// A message of strace itself, a stack frame (`-k`), or an empty line.
    Aside,
    /// The head of a table of totals (`-C` prints one after the calls).
    Table,
    /// Anything else.
    Odd,
}

/// A parsed line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line<'l> {
    /// The process, 0 if the line has no process number.
    pub(super) process: u64,
    /// Time, in the form used by the log.
    pub(super) time: Option<Time>,
    pub(super) said: LineContent<'l>,
}

/// A time at the start of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Time {
    /// `-ttt`: seconds since 1970; or `-r`: seconds since the previous call. The size of the number distinguishes the two.
    Seconds(f64),
    /// `-t`, `-tt`: seconds since midnight.
    Clock(f64),
}

/// Minimum value of a time in seconds since 1970; a smaller value is a relative time of `-r`.
pub(super) const EPOCH: f64 = 1e8;
/// Largest process number in Linux; a larger integer at the start of a line is a time.
const MOST_PROCESSES: u64 = 1 << 22;

const BEGUN: &[u8] = b"<unfinished ...>";
const GONE: &[u8] = b"<detached ...>";

/// Parses a line.
pub(super) fn take_apart(line: &[u8]) -> Line<'_> {
    let (process, time, body) = prefix(line);
    Line { process, time, said: said(body) }
}

/// Returns process, time, and the rest.
fn prefix(line: &[u8]) -> (u64, Option<Time>, &[u8]) {
    let (mut process, mut time, mut rest) = (None, None, line);
    // a stack frame starts with a space and an arrow, the times of -r with spaces
    for _ in 0..4 {
        let text = rest.trim_ascii_start();
        match text.first() {
            Some(b'[') => {
                let Some(end) = find(text, b']') else { break };
                if let Some(number) = text[..end].strip_prefix(b"[pid") {
                    process = whole(number.trim_ascii()).or(process);
                }
                rest = &text[end + 1..];
            }
            // the relative time of -r next to another time
            Some(b'(') if time.is_some() => {
                let Some(end) = find(text, b')') else { break };
                rest = &text[end + 1..];
            }
            Some(b'0'..=b'9') => {
                let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
                let token = &text[..end];
                let bare = &token[..find(token, b'<').unwrap_or(end)];
                match whole(bare) {
                    Some(number) if process.is_none() && time.is_none() && number <= MOST_PROCESSES => {
                        process = Some(number);
                    }
                    _ => match clock(token) {
                        Some(found) if time.is_none() => time = Some(found),
                        _ => break,
                    },
                }
                rest = &text[end..];
            }
            _ => break,
        }
    }
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    (process.unwrap_or(0), time, rest)
}

/// Returns the call or event in the rest of a line.
fn said(body: &[u8]) -> LineContent<'_> {
    let text = body.trim_ascii();
    match text {
        [] | [b'>', ..] => return LineContent::Aside,
        [b'-', b'-', b'-', ..] => return LineContent::Signal,
        [b'+', b'+', b'+', ..] => return LineContent::Exit,
        [b'%', ..] if text.starts_with(b"% time") => return LineContent::Table,
        [b'<', b'.', b'.', b'.', b' ', after @ ..] => return resumed(after),
        _ => {}
    }
    let end = text.iter().position(|&byte| !is_name(byte)).unwrap_or(text.len());
    let (name, after) = text.split_at(end);
    let [b'(', rest @ ..] = after else {
        let own =
            text.starts_with(b"strace: ") || text.starts_with(b"Process ") || text.starts_with(b"/usr/bin/strace");
        return if own { LineContent::Aside } else { LineContent::Odd };
    };
    if name.is_empty() {
        return LineContent::Odd;
    }
    if let Some(rest) = rest.strip_suffix(BEGUN) {
        return LineContent::Begins { name, rest };
    }
    // the tracer detached in the middle of the call, which counts as its end
    if rest.ends_with(GONE) || end_of_arguments(rest).is_some() {
        LineContent::Whole { name, rest }
    } else {
        LineContent::Cut
    }
}

/// Parses `name resumed>rest`, or `name resumed> rest` of strace before 5.
fn resumed(after: &[u8]) -> LineContent<'_> {
    let end = after.iter().position(|&byte| !is_name(byte)).unwrap_or(after.len());
    let (name, after) = after.split_at(end);
    let Some(rest) = after.strip_prefix(b" resumed>") else { return LineContent::Odd };
    if let Some(rest) = rest.strip_suffix(BEGUN) {
        return LineContent::Begins { name, rest };
    }
    if rest.ends_with(GONE) || end_of_arguments(rest).is_some() {
        LineContent::Ends { name, rest }
    } else {
        LineContent::Cut
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'?'
}

/// Result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ending<'l> {
    /// The remaining arguments, before the last bracket.
    pub(super) arguments: &'l [u8],
    /// The result: a number, `?`, or `-1 ENOENT (No such file or directory)`.
    pub(super) result: &'l [u8],
    /// Duration, in nanoseconds (`-T`).
    pub(super) nanoseconds: Option<u64>,
}

/// Splits arguments, result and time of a call. The result is searched for from the end of the line, which cannot contain text of a program: paths
/// and strings are among the arguments.
pub(super) fn ending(rest: &[u8]) -> Option<Ending<'_>> {
    let rest = rest.trim_ascii_end();
    let at = end_of_arguments(rest)?;
    let mut result = rest[at + 1..].trim_ascii_start();
    result = result.strip_prefix(b"=").unwrap_or(result).trim_ascii_start();
    let mut nanoseconds = None;
    if let [before @ .., b'>'] = result
        && let Some(open) = before.iter().rposition(|&byte| byte == b'<')
        && (open == 0 || before[open - 1] == b' ')
        && let Some(found) = decimal(&before[open + 1..])
    {
        nanoseconds = Some(found);
        result = before[..open].trim_ascii_end();
    }
    Some(Ending { arguments: &rest[..at], result, nanoseconds })
}

/// Returns the position of the bracket that closes the arguments: the last bracket followed by `=`.
fn end_of_arguments(rest: &[u8]) -> Option<usize> {
    let mut end = rest.len();
    while let Some(at) = rest[..end].iter().rposition(|&byte| byte == b'=') {
        let before = rest[..at].trim_ascii_end();
        if before.ends_with(b")") && (rest.get(at + 1) == Some(&b' ')) && before.len() < at {
            return Some(before.len() - 1);
        }
        end = at;
    }
    None
}

/// Returns the text between the first pair of quotes, with its escapes.
pub(super) fn quoted(arguments: &[u8]) -> Option<&[u8]> {
    let start = find(arguments, b'"')? + 1;
    let mut at = start;
    while let Some(&byte) = arguments.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return Some(&arguments[start..at]),
            _ => at += 1,
        }
    }
    None
}

/// Returns the text with `\n`, octal and `\x` escapes decoded.
pub(super) fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        at += 1;
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        let Some(&next) = text.get(at) else { break };
        let digits = |from: usize, most: usize, radix: u32| {
            let is_digit = |byte: &&u8| char::from(**byte).is_digit(radix);
            let count = text[from.min(text.len())..].iter().take(most).take_while(is_digit).count();
            let value =
                std::str::from_utf8(&text[from..from + count]).ok().and_then(|t| u8::from_str_radix(t, radix).ok());
            value.map(|value| (value, from + count))
        };
        let code = if next == b'x' { digits(at + 1, 2, 16) } else { digits(at, 3, 8) };
        if let Some((value, after)) = code {
            plain.push(value);
            at = after;
            continue;
        }
        plain.push(match next {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            other => other,
        });
        at += 1;
    }
    plain
}

/// Returns the address in a socket address: `inet_addr("10.0.0.1")`, or `inet_pton(AF_INET6, "::1", ...)`.
pub(super) fn inet_address(arguments: &[u8]) -> Option<&[u8]> {
    for word in [b"inet_addr(".as_slice(), b"inet_pton(AF_INET6, "] {
        if let Some(at) = arguments.windows(word.len()).position(|window| window == word) {
            return quoted(&arguments[at + word.len()..]).filter(|text| !text.is_empty());
        }
    }
    None
}

/// Returns the local address of a connected socket from an annotation of `-yy`: `3<TCP:[10.0.0.1:80->10.0.0.2:4000]>`.
pub(super) fn decorated_address(arguments: &[u8]) -> Option<&[u8]> {
    let word = b"<TCP:[".as_slice();
    let at = arguments.windows(word.len()).position(|window| window == word)? + word.len();
    let text = &arguments[at..at + find(&arguments[at..], b']')?];
    let own = &text[..text.windows(2).position(|window| window == b"->")?];
    Some(&own[..own.iter().rposition(|&byte| byte == b':')?])
}

fn find(text: &[u8], byte: u8) -> Option<usize> {
    text.iter().position(|&b| b == byte)
}

/// Parses an integer.
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(text.iter().fold(0, |sum, byte| sum * 10 + u64::from(byte - b'0')))
}

/// Parses seconds with up to nine digits after the decimal point, or comma in some locales, to nanoseconds.
pub(super) fn decimal(text: &[u8]) -> Option<u64> {
    let point = text.iter().position(|&byte| byte == b'.' || byte == b',');
    let (seconds, rest) = text.split_at(point.unwrap_or(text.len()));
    let fraction = rest.get(1..).unwrap_or(&[]);
    if fraction.len() > 9 || (point.is_some() && fraction.is_empty()) {
        return None;
    }
    let part = if fraction.is_empty() { 0 } else { whole(fraction)? };
    let scale = 10_u64.pow(9 - u32::try_from(fraction.len()).ok()?);
    whole(seconds)?.checked_mul(1_000_000_000)?.checked_add(part * scale)
}

/// Parses a time: seconds, or hours, minutes and seconds.
fn clock(token: &[u8]) -> Option<Time> {
    let mut parts = token.split(|&byte| byte == b':');
    let (first, second, third) = (parts.next()?, parts.next(), parts.next());
    let seconds = |text: &[u8]| decimal(text).map(|nanoseconds| nanoseconds as f64 * 1e-9);
    match (second, third, parts.next()) {
        (None, ..) => Some(Time::Seconds(seconds(first)?)),
        (Some(minutes), Some(last), None) => {
            let (hours, minutes) = (whole(first)?, whole(minutes)?);
            (hours < 24 && minutes < 60).then_some(())?;
            Some(Time::Clock((hours * 3600 + minutes * 60) as f64 + seconds(last)?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole_call(line: &str) -> (u64, Option<Time>, String, Ending<'_>) {
        let taken = take_apart(line.as_bytes());
        let LineContent::Whole { name, rest } = taken.said else { panic!("{line}: {taken:?}") };
        (taken.process, taken.time, String::from_utf8_lossy(name).into_owned(), ending(rest).unwrap())
    }

    #[test]
    fn every_prefix_is_understood() {
        let call = r#"access("/a", F_OK) = 0 <0.000012>"#;
        for (prefix, process, time) in [
            ("", 0, None),
            ("12 ", 12, None),
            ("7387  ", 7387, None),
            ("[pid  1234] ", 1234, None),
            ("[pid 1234<python3>] ", 1234, None),
            ("12<java> ", 12, None),
            ("1577836800.000000 ", 0, Some(Time::Seconds(1_577_836_800.0))),
            ("1577836800 ", 0, Some(Time::Seconds(1_577_836_800.0))),
            ("12 1577836800.500000 ", 12, Some(Time::Seconds(1_577_836_800.5))),
            ("7387  00:09:47.750000 ", 7387, Some(Time::Clock(587.75))),
            ("7387  00:09:47 ", 7387, Some(Time::Clock(587.0))),
            ("     0.000250 ", 0, Some(Time::Seconds(0.000_25))),
            ("12      0.000250 ", 12, Some(Time::Seconds(0.000_25))),
            ("12 00:09:47.750000 (+     0.000100) ", 12, Some(Time::Clock(587.75))),
            ("[pid 5] 00:09:47 [ 21] ", 5, Some(Time::Clock(587.0))),
            ("12 [00007f0000001234] ", 12, None),
        ] {
            let line = format!("{prefix}{call}");
            let (found, at, name, end) = whole_call(&line);
            let bare = if prefix.contains('<') { process } else { found };
            assert_eq!((bare, at, name.as_str(), end.nanoseconds), (process, time, "access", Some(12_000)), "{line}");
        }
    }

    #[test]
    fn results_are_found_after_strings_that_look_like_results() {
        let (.., end) = whole_call(r#"stat("/a) = 0 <9.9>", {st_mode=S_IFREG|0644, ...}) = 0 <0.000005>"#);
        assert_eq!((end.result, end.nanoseconds), (b"0".as_slice(), Some(5_000)));
        let (.., end) = whole_call(r#"access("\" = x", R_OK)      = -1 ENOENT (No such file or directory) <1.5>"#);
        assert_eq!(
            (end.result, end.nanoseconds),
            (b"-1 ENOENT (No such file or directory)".as_slice(), Some(1_500_000_000))
        );
        let (.., end) = whole_call("exit_group(0)                           = ?");
        assert_eq!((end.arguments, end.result, end.nanoseconds), (b"0".as_slice(), b"?".as_slice(), None));
        let (.., end) = whole_call("accept(3<TCP:[1]>, NULL, NULL) = 5<TCP:[10.0.0.1:80->10.0.0.2:4000]> <0.000001>");
        assert_eq!(end.result, b"5<TCP:[10.0.0.1:80->10.0.0.2:4000]>");
        let (.., end) = whole_call("socket(AF_INET, SOCK_STREAM, IPPROTO_IP) = 3<TCP:[9]>");
        assert_eq!((end.result, end.nanoseconds), (b"3<TCP:[9]>".as_slice(), None));
    }

    #[test]
    fn lines_that_are_not_calls_are_classified() {
        let said = |line: &str| format!("{:?}", take_apart(line.as_bytes()).said).split(' ').next().unwrap().to_owned();
        for (line, expected) in [
            ("12 --- SIGCHLD {si_signo=SIGCHLD} ---", "Signal"),
            ("12 1.5 +++ exited with 0 +++", "Exit"),
            ("+++ killed by SIGKILL +++", "Exit"),
            ("strace: Process 27 attached", "Aside"),
            ("Process 27 attached", "Aside"),
            (" > /lib/libc.so.6(__open+0x1) [0x2]", "Aside"),
            ("", "Aside"),
            ("% time     seconds  usecs/call     calls    errors syscall", "Table"),
            ("7 accept(3,  <unfinished ...>", "Begins"),
            ("7 restart_syscall(<... resuming interrupted poll ...> <unfinished ...>", "Begins"),
            ("7 <... accept resumed>) = 4 <1.0>", "Ends"),
            ("7 <... futex resumed> )             = 0", "Ends"),
            ("7 <... resuming", "Odd"),
            ("7 accept(3, {sa_fam", "Cut"),
            ("7 connect(3, <detached ...>", "Whole"),
            ("what is this", "Odd"),
            ("{\"a\": 1}", "Odd"),
        ] {
            assert_eq!(said(line), expected, "{line}");
        }
    }

    #[test]
    fn addresses_and_paths_are_read_from_arguments() {
        let v4 = br#"3, {sa_family=AF_INET, sin_port=htons(9100), sin_addr=inet_addr("10.77.0.13")}, 16"#;
        assert_eq!(inet_address(v4), Some(b"10.77.0.13".as_slice()));
        let v6 = br#"3, {sa_family=AF_INET6, sin6_port=htons(80), inet_pton(AF_INET6, "fd00::2", &sin6_addr)}, 28"#;
        assert_eq!(inet_address(v6), Some(b"fd00::2".as_slice()));
        assert_eq!(inet_address(br#"3, {sa_family=AF_UNIX, sun_path="/run/x"}, 110"#), None);
        assert_eq!(decorated_address(b"32<TCP:[172.17.0.2:33462->10.7.7.48:5432]>, 1"), Some(b"172.17.0.2".as_slice()));
        assert_eq!(decorated_address(b"24<TCP:[127.0.0.1:8080]>"), None);
        assert_eq!(quoted(br#"AT_FDCWD, "/a\"b", 0"#), Some(br#"/a\"b"#.as_slice()));
        assert_eq!(unescaped(br#"\x2fdata\0571\n\"\\"#), b"/data/1\n\"\\");
        assert_eq!((decimal(b"0,000250"), decimal(b"1."), decimal(b"x")), (Some(250_000), None, None));
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80)) {
            let line = take_apart(&bytes);
            if let LineContent::Whole { rest, .. } | LineContent::Ends { rest, .. } = line.said {
                let _ = ending(rest);
            }
            let _ = (quoted(&bytes), unescaped(&bytes), inet_address(&bytes), decorated_address(&bytes));
        }

        #[test]
        fn strace_like_text_does_not_panic(text in r#"(\[pid +|[0-9]{1,5} )?[0-9:.]{0,9} ?(<\.\.\. )?[a-z]{0,4}( resumed>)?[("\\)= <>0-9.x-]{0,24}( <unfinished \.\.\.>)?"#) {
            let line = take_apart(text.as_bytes());
            if let LineContent::Whole { rest, .. } | LineContent::Ends { rest, .. } = line.said {
                let _ = ending(rest);
            }
        }
    }
}
