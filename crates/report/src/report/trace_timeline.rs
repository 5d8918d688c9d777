//! The attempts of a log as a picture: time to the right, one block per node, one lane per slot.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::report::drawing::{Picture, PlotError};
use crate::report::number::count;
use crate::report::timeline_svg::{Bar, Kind, Scene, WITH_TEXT};
use crate::report::trace_rows::{LaneRow, TimelineRow};
use crate::trace::analysis::{CopyFate, Usual, copies, most_at_once, stragglers};
use crate::trace::{Attempt, Executor, JobTrace};

/// Width of the picture of a file \[px\].
const WIDTH: f64 = 1200.0;
/// Maximum overlap of successive tasks of a core \[µs\]: Spark launches the next task some milliseconds before it records
/// the end of the previous one.
const OVERLAP: i64 = 20_000;
/// Maximum number of bars in a report.
const MOST_BARS: usize = 3_000;

/// Appearance of an attempt, in the order of drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Even,
    Odd,
    Vain,
    Straggler,
    Copy,
    Failed,
}

impl Class {
    const ALL: [Self; 6] = [Self::Even, Self::Odd, Self::Vain, Self::Straggler, Self::Copy, Self::Failed];

    /// Returns the word in JSON.
    fn key(self) -> &'static str {
        match self {
            Self::Even => "task",
            Self::Odd => "next",
            Self::Vain => "wasted",
            Self::Straggler => "slow",
            Self::Copy => "copy",
            Self::Failed => "failed",
        }
    }

    fn kind(self) -> Kind {
        let (colour, opacity, meaning) = match self {
            Self::Even => ("#3465A4", 0.8, "tasks of a stage"),
            Self::Odd => ("#3465A4", 0.4, "tasks of the next stage"),
            Self::Vain => ("#888A85", 0.6, "killed, or wasted"),
            Self::Straggler => ("#CE5C00", 1.0, "beyond 1.5 medians"),
            Self::Copy => ("#2A9D8F", 1.0, "copy that won"),
            Self::Failed => ("#A40000", 1.0, "failed"),
        };
        Kind { colour, opacity, meaning }
    }
}

/// Kinds and notes for the attempts of a trace.
#[derive(Debug)]
pub(super) struct Paint {
    /// In the order of drawing.
    pub(super) kinds: Vec<Kind>,
    /// The kind of each attempt of the trace, as an index.
    pub(super) of_attempts: Vec<usize>,
    /// Notes for the tooltips of single attempts, after the text that all attempts have.
    pub(super) notes: BTreeMap<usize, String>,
}

/// An attempt in time and lanes.
struct Drawn {
    from: i64,
    to: i64,
    node: usize,
    lane: usize,
    /// The attempt, as an index.
    index: usize,
}

/// Returns the picture. Omits attempts without a launch; an attempt without an end is drawn to the end of its
/// stage, otherwise to the end of the picture.
pub fn trace_svg(trace: &JobTrace, usual: &Usual) -> String {
    let of_attempts = classes(trace, usual).into_iter().map(|class| class as usize).collect();
    painted_svg(trace, &Paint { kinds: Class::ALL.map(Class::kind).into(), of_attempts, notes: BTreeMap::new() })
}

/// Returns the picture with colours of the caller's choice.
pub(super) fn painted_svg(trace: &JobTrace, paint: &Paint) -> String {
    let (drawn, lanes) = lay_out(trace);
    let order = in_order(trace, &lanes);
    let mut places = vec![0; lanes.len()];
    order.iter().enumerate().for_each(|(place, &node)| places[node] = place);
    let name = match trace.applications.as_slice() {
        [application] if !application.name.is_empty() => application.name.as_str(),
        _ => trace.format.text(),
    };
    let span = span(trace, &drawn);
    let size = format!("{} attempts, {:.1} s", count(drawn.len() as u128), span[1] - span[0]);
    let has_texts = drawn.len() <= WITH_TEXT;
    let bar = |drawn: &Drawn| {
        let note = paint.notes.get(&drawn.index).map_or(String::new(), |note| format!("; {note}"));
        Bar {
            span: [drawn.from, drawn.to].map(|time| time as f64 / 1e6),
            node: places[drawn.node],
            lane: drawn.lane,
            kind: paint.of_attempts[drawn.index],
            text: has_texts.then(|| about(trace, &trace.attempts()[drawn.index]) + &note),
        }
    };
    let scene = Scene {
        title: Some([name.to_owned(), size]),
        span,
        nodes: order.iter().map(|&node| (node_name(trace, node).unwrap_or(NO_NODE).to_owned(), lanes[node])).collect(),
        bars: drawn.iter().map(bar).collect(),
        kinds: paint.kinds.clone(),
    };
    scene.svg(WIDTH)
}

/// The name for attempts without a node.
const NO_NODE: &str = "(no node)";

fn node_name(trace: &JobTrace, node: usize) -> Option<&str> {
    trace.nodes.get(node).map(|node| node.name.as_str())
}

/// Start and end \[µs\], and class.
type Span = (i64, i64, Class);

/// Returns the attempts as bars in lanes, for the report; `None` if too many bars are left after bars that touch have
/// been joined.
pub(super) fn timeline(trace: &JobTrace, usual: &Usual) -> Option<TimelineRow> {
    let (drawn, lanes) = lay_out(trace);
    let classes = classes(trace, usual);
    let [from_s, to_s] = span(trace, &drawn);
    // times of bars are rounded to milliseconds
    let [from_s, to_s] = [(from_s * 1e3).floor() / 1e3, (to_s * 1e3).ceil() / 1e3];
    // bars closer than about a pixel are joined if there are many
    let joined = drawn.len() > MOST_BARS;
    let near = joined.then_some(((to_s - from_s) * 1e6 / WIDTH) as i64);
    let mut own: BTreeMap<(usize, usize), Vec<Span>> = BTreeMap::new();
    for Drawn { from, to, node, lane, index } in drawn {
        let (bars, class) = (own.entry((node, lane)).or_default(), classes[index]);
        match bars.last_mut() {
            Some((_, end, last)) if *last == class && near.is_some_and(|near| from - *end <= near) => {
                *end = to.max(*end);
            }
            _ => bars.push((from, to, class)),
        }
    }
    let bars: usize = own.values().map(Vec::len).sum();
    let text = |bars: &Vec<Span>| {
        let bar =
            |(from, to, class): &Span| format!("{:.3} {:.3} {}", *from as f64 / 1e6, *to as f64 / 1e6, class.key());
        bars.iter().map(bar).collect::<Vec<_>>().join("; ")
    };
    let row = |node: usize, lane: usize| LaneRow {
        node: node_name(trace, node).map(str::to_owned),
        bars: own.get(&(node, lane)).map_or_else(String::new, text),
    };
    let order = in_order(trace, &lanes);
    let rows = order.into_iter().flat_map(|node| (0..lanes[node]).map(move |lane| (node, lane)));
    let rows = (1..=MOST_BARS).contains(&bars).then(|| rows.map(|(node, lane)| row(node, lane)).collect())?;
    Some(TimelineRow { from_s, to_s, joined, lanes: rows })
}

impl TimelineRow {
    /// Returns the bars of the picture. A file may contain anything, so invalid bars are left out.
    fn scene(&self) -> Scene {
        let mut nodes: Vec<(String, usize)> = Vec::new();
        let mut bars = Vec::new();
        let mut last = None;
        for lane in &self.lanes {
            if last.replace(&lane.node) != Some(&lane.node) {
                nodes.push((lane.node.clone().unwrap_or_else(|| NO_NODE.to_owned()), 0));
            }
            let node = nodes.len() - 1;
            let own = nodes[node].1;
            nodes[node].1 += 1;
            bars.extend(lane.bars.split(';').filter_map(|bar| {
                let mut words = bar.split_whitespace();
                let [from, to] = [words.next()?, words.next()?].map(|word| word.parse::<f64>());
                let span = [from.ok()?, to.ok()?];
                let key = words.next()?;
                let kind = Class::ALL.iter().position(|class| class.key() == key)?;
                let inside = self.from_s <= span[0] && span[0] <= span[1] && span[1] <= self.to_s;
                inside.then_some(Bar { span, node, lane: own, kind, text: None })
            }));
        }
        Scene { title: None, span: [self.from_s, self.to_s], nodes, bars, kinds: Class::ALL.map(Class::kind).into() }
    }

    /// Returns the picture; none if there is nothing to draw.
    ///
    /// # Errors
    ///
    /// [`PlotError`], which no report of this crate causes.
    pub(super) fn picture(&self) -> Result<Option<Picture>, PlotError> {
        let scene = self.scene();
        if !scene.can_be_drawn() {
            return Ok(None);
        }
        Picture::new("timeline", |width| Ok(scene.svg(width.pixels().into()))).map(Some)
    }
}

/// Returns the class of each attempt.
fn classes(trace: &JobTrace, usual: &Usual) -> Vec<Class> {
    let mut classes = Vec::with_capacity(trace.attempts().len());
    for (id, stage) in trace.stages_with_ids() {
        let slow: BTreeSet<usize> = stragglers(trace, id, usual).over_median.into_iter().collect();
        let plain = if id.index() % 2 == 0 { Class::Even } else { Class::Odd };
        for (index, attempt) in trace.attempts_of(id).iter().enumerate() {
            debug_assert_eq!(stage.attempts.start + index, classes.len());
            classes.push(match attempt {
                a if a.outcome.is_failure() => Class::Failed,
                _ if slow.contains(&index) => Class::Straggler,
                a if !a.succeeded() => Class::Vain,
                _ => plain,
            });
        }
    }
    for (index, fate) in copies(trace).fates {
        if let Some(class) = classes.get_mut(index) {
            *class = if fate == CopyFate::Won { Class::Copy } else { Class::Vain };
        }
    }
    classes
}

/// Puts each attempt into the first free lane of its node, and returns the number of lanes of each node. The last node holds attempts without a node.
fn lay_out(trace: &JobTrace) -> (Vec<Drawn>, Vec<usize>) {
    let last = last_time(trace);
    let mut drawn: Vec<Drawn> = trace
        .attempts()
        .iter()
        .enumerate()
        .filter_map(|(index, attempt)| {
            let from = attempt.launch()?.microseconds();
            let to = attempt.finish().or_else(|| trace.stage(attempt.stage)?.completed);
            let to = to.map_or(last, |time| time.microseconds()).max(from);
            let node = attempt.node.map_or(trace.nodes.len(), |node| node.index());
            Some(Drawn { from, to, node, lane: 0, index })
        })
        .collect();
    drawn.sort_by_key(|drawn| (drawn.node, drawn.from, drawn.to, drawn.index));
    let mut lanes = vec![0; trace.nodes.len() + 1];
    for own in drawn.chunk_by_mut(|a, b| a.node == b.node) {
        let most = node_slots(trace, own[0].node).unwrap_or(usize::MAX);
        // the time when each lane becomes free
        let mut free: Vec<i64> = Vec::new();
        for drawn in own.iter_mut() {
            let mut found = free.iter().position(|&end| end.saturating_sub(OVERLAP) <= drawn.from);
            if found.is_none() && free.len() >= most {
                found = (0..free.len()).min_by_key(|&lane| free[lane]);
            }
            drawn.lane = found.unwrap_or(free.len());
            if found.is_none() {
                free.push(0);
            }
            free[drawn.lane] = drawn.to;
        }
        lanes[own[0].node] = free.len();
    }
    (drawn, lanes)
}

/// Returns the slots of a node, if the log states the cores of all executors on it.
fn node_slots(trace: &JobTrace, node: usize) -> Option<usize> {
    let there: Vec<&Executor> = trace.executors.iter().filter(|e| e.node.is_some_and(|n| n.index() == node)).collect();
    let each: Vec<i64> =
        there.iter().map(|executor| trace.slots_of_executor(executor).map(i64::from)).collect::<Option<_>>()?;
    let spans = there.iter().map(|executor| {
        let from = executor.added.map_or(i64::MIN / 2, |time| time.microseconds());
        (from, executor.removed.map_or(i64::MAX / 2, |time| time.microseconds()))
    });
    usize::try_from(most_at_once(spans, |i| each[i])).ok().filter(|&slots| slots > 0)
}

fn last_time(trace: &JobTrace) -> i64 {
    let jobs = trace.jobs.iter().filter_map(|job| job.completed);
    let attempts = trace.attempts().iter().flat_map(|attempt| [attempt.finish(), attempt.launch()]).flatten();
    jobs.chain(attempts).map(|time| time.microseconds()).max().unwrap_or(0)
}

/// Returns the ends of the picture \[s\].
fn span(trace: &JobTrace, drawn: &[Drawn]) -> [f64; 2] {
    let submitted = trace.jobs.iter().filter_map(|job| job.submitted).map(|time| time.microseconds());
    let from = drawn.iter().map(|drawn| drawn.from).chain(submitted).min().unwrap_or(0);
    let to = drawn.iter().map(|drawn| drawn.to).max().unwrap_or(1).max(from + 1);
    [from, to].map(|time| time as f64 / 1e6)
}

/// Returns the tooltip of an attempt.
fn about(trace: &JobTrace, attempt: &Attempt) -> String {
    let stage = trace.stage(attempt.stage).map_or(0, |stage| stage.number);
    let time = attempt.duration().map_or_else(|| "no end".to_owned(), |time| format!("{time:.3} s"));
    let copy = if attempt.speculative { ", copy" } else { "" };
    let outcome = attempt.outcome.key().replace('_', " ");
    format!("stage {stage}, task {}, attempt {}: {time}, {outcome}{copy}", attempt.task, attempt.number)
}

/// Returns the nodes that ran attempts, sorted by name, with numbers in names by value; attempts without a node are
/// last.
fn in_order(trace: &JobTrace, lanes: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lanes.len()).filter(|&node| lanes[node] > 0).collect();
    let key = |node: usize| trace.nodes.get(node).map(|node| padded(&node.name));
    order.sort_by_cached_key(|&node| (key(node).is_none(), key(node)));
    order
}

/// Pads the numbers in a name with zeros, so that names sort by value.
fn padded(name: &str) -> String {
    let digit = |c: &char| c.is_ascii_digit();
    let mut text = String::new();
    let mut rest = name;
    while !rest.is_empty() {
        let number: String = rest.chars().take_while(digit).collect();
        let word: String = rest[number.len()..].chars().take_while(|c| !digit(c)).collect();
        if !number.is_empty() {
            let _ = write!(text, "{number:0>10}");
        }
        text += &word;
        rest = &rest[number.len() + word.len()..];
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ordered_by_their_numbers() {
        let mut names = ["n10", "n9", "10.0.0.12", "10.0.0.2", "a"];
        names.sort_by_key(|name| padded(name));
        assert_eq!(names, ["10.0.0.2", "10.0.0.12", "a", "n9", "n10"]);
    }

    #[test]
    fn invalid_bars_of_a_stored_timeline_are_skipped() {
        let lane = |bars: &str| LaneRow { node: Some("a".to_owned()), bars: bars.to_owned() };
        let bars = "0.5 1.25 task; 1.3 2 copy; 1 2 unknown; 3 2 task; 1 inf task; x; 1 99 task; NaN 1 task";
        let read =
            TimelineRow { from_s: 0.0, to_s: 10.0, joined: false, lanes: vec![lane(bars), lane(""), lane("2 2 slow")] };
        let scene = read.scene();
        let found: Vec<_> = scene.bars.iter().map(|bar| (bar.span, bar.lane, scene.kinds[bar.kind].meaning)).collect();
        let expected = [
            ([0.5, 1.25], 0, "tasks of a stage"),
            ([1.3, 2.0], 0, "copy that won"),
            ([2.0, 2.0], 2, "beyond 1.5 medians"),
        ];
        assert_eq!((&*found, &*scene.nodes), (&expected[..], &[("a".to_owned(), 3)][..]));
        assert!(read.picture().unwrap().unwrap().narrow.contains(">copy that won<"));
        assert!(TimelineRow { lanes: Vec::new(), ..read }.picture().unwrap().is_none());
    }
}
