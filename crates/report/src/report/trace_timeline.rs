//! The attempts of a log as a picture: time to the right, one block per node, one lane per slot.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::formats::svg_parts::escaped;
use crate::report::number::count;
use crate::trace::analysis::{CopyFate, Usual, copies, most_at_once, stragglers};
use crate::trace::{Attempt, Executor, JobTrace};

/// Width of the picture, and of the names of nodes next to the lanes \[px\].
const WIDTH: f64 = 1200.0;
const NAMES: f64 = 130.0;
/// Space around everything \[px\].
const MARGIN: f64 = 16.0;
/// Space for the title and the legend \[px\].
const HEAD: f64 = 64.0;
/// Space for the axis \[px\].
const AXIS: f64 = 40.0;
/// Highest and lowest lane \[px\], and the target height of all lanes.
const LANE: std::ops::RangeInclusive<f64> = 1.5..=16.0;
const LANES: f64 = 640.0;
/// Space between two nodes, at most, and between all nodes together \[px\].
const GAP: f64 = 5.0;
const GAPS: f64 = 200.0;
/// Number of attempts up to which each is a separate element with a tooltip.
const WITH_TEXT: usize = 3_000;
/// Spark launches the next task of a core some milliseconds before it notes the end of the last one \[µs\].
const OVERLAP: i64 = 20_000;

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

/// Colours and their meanings, in the order of the classes.
const PALETTE: [(&str, &str); 6] = [
    ("#5b8db8", "tasks of a stage"),
    ("#a3c1da", "of the next stage"),
    ("#c9c9c9", "killed, or wasted"),
    ("#e08214", "over 1.5 × median"),
    ("#4d9d4d", "copy that won"),
    ("#c0392b", "failed"),
];

/// Colours and notes for the attempts of a trace.
#[derive(Debug)]
pub(super) struct Paint {
    /// Colours and their meanings, in the order of drawing.
    pub(super) palette: Vec<(&'static str, &'static str)>,
    /// The colour of each attempt of the trace, as a position in the palette.
    pub(super) colours: Vec<usize>,
    /// Notes for the tooltips of single attempts, after the text that all attempts have.
    pub(super) notes: BTreeMap<usize, String>,
}

/// A rectangle in time and lanes.
struct Drawn {
    from: i64,
    to: i64,
    node: usize,
    lane: usize,
    colour: usize,
    /// The attempt, as an index.
    index: usize,
}

/// The picture. Omits attempts without a launch; an attempt without an end is drawn to the end of its stage,
/// otherwise to the end of the picture.
pub fn trace_svg(trace: &JobTrace, usual: &Usual) -> String {
    let colours = classes(trace, usual).into_iter().map(|class| class as usize).collect();
    painted_svg(trace, &Paint { palette: PALETTE.into(), colours, notes: BTreeMap::new() })
}

/// The picture with colours of the caller's choice.
pub(super) fn painted_svg(trace: &JobTrace, paint: &Paint) -> String {
    let (drawn, lanes) = lay_out(trace, &paint.colours);
    let picture = Picture::new(trace, &drawn, &lanes);
    let mut svg = picture.head(trace, paint, drawn.len());
    picture.names(trace, &mut svg);
    picture.grid(&mut svg);
    if drawn.len() <= WITH_TEXT {
        picture.rectangles(trace, paint, &drawn, &mut svg);
    } else {
        picture.paths(paint, &drawn, &mut svg);
    }
    svg += "</svg>\n";
    svg
}

/// The class of each attempt.
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
fn lay_out(trace: &JobTrace, colours: &[usize]) -> (Vec<Drawn>, Vec<usize>) {
    let last = last_time(trace);
    let mut drawn: Vec<Drawn> = trace
        .attempts()
        .iter()
        .zip(colours)
        .enumerate()
        .filter_map(|(index, (attempt, &colour))| {
            let from = attempt.launch()?.microseconds();
            let to = attempt.finish().or_else(|| trace.stage(attempt.stage)?.completed);
            let to = to.map_or(last, |time| time.microseconds()).max(from);
            let node = attempt.node.map_or(trace.nodes.len(), |node| node.index());
            Some(Drawn { from, to, node, lane: 0, colour, index })
        })
        .collect();
    drawn.sort_by_key(|drawn| (drawn.node, drawn.from, drawn.to, drawn.index));
    let mut lanes = vec![0; trace.nodes.len() + 1];
    for own in drawn.chunk_by_mut(|a, b| a.node == b.node) {
        let most = node_slots(trace, own[0].node).unwrap_or(usize::MAX);
        // when each lane gets free
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

/// The slots of a node, if the log states the cores of all executors on it.
fn node_slots(trace: &JobTrace, node: usize) -> Option<usize> {
    let there: Vec<&Executor> = trace.executors.iter().filter(|e| e.node.is_some_and(|n| n.index() == node)).collect();
    let slots = |executor: &Executor| {
        let of_a_task = trace.applications.get(executor.application.index())?.cores_of_a_task();
        Some(i64::from(executor.cores? / of_a_task))
    };
    let each: Vec<i64> = there.iter().map(|executor| slots(executor)).collect::<Option<_>>()?;
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

/// Positions in the picture.
struct Picture {
    /// Time at the left end, and microseconds per pixel.
    from: i64,
    per_pixel: f64,
    seconds: (f64, f64),
    lane: f64,
    /// Top of each node; none if it has no lane.
    tops: Vec<Option<f64>>,
    heights: Vec<f64>,
    /// The nodes from above.
    order: Vec<usize>,
    height: f64,
}

impl Picture {
    fn new(trace: &JobTrace, drawn: &[Drawn], lanes: &[usize]) -> Self {
        let submitted = trace.jobs.iter().filter_map(|job| job.submitted).map(|time| time.microseconds());
        let from = drawn.iter().map(|drawn| drawn.from).chain(submitted).min().unwrap_or(0);
        let to = drawn.iter().map(|drawn| drawn.to).max().unwrap_or(1).max(from + 1);
        let total: usize = lanes.iter().sum();
        let lane = (LANES / total.max(1) as f64).clamp(*LANE.start(), *LANE.end());
        let mut y = MARGIN + HEAD;
        let mut tops = vec![None; lanes.len()];
        let heights: Vec<f64> = lanes.iter().map(|&lanes| lanes as f64 * lane).collect();
        let order = in_order(trace, lanes);
        let gap = (GAPS / order.len().max(1) as f64).min(GAP);
        for node in &order {
            tops[*node] = Some(y);
            y += heights[*node] + gap;
        }
        let width = WIDTH - 2.0 * MARGIN - NAMES;
        Self {
            from,
            per_pixel: (to - from) as f64 / width,
            seconds: (from as f64 / 1e6, to as f64 / 1e6),
            lane,
            tops,
            heights,
            order,
            height: y + AXIS + MARGIN,
        }
    }

    fn x(&self, time: i64) -> f64 {
        MARGIN + NAMES + (time - self.from) as f64 / self.per_pixel
    }

    fn head(&self, trace: &JobTrace, paint: &Paint, drawn: usize) -> String {
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{h:.0}\" viewBox=\"0 0 {WIDTH} {h:.0}\" \
             font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
            h = self.height
        );
        let name = match trace.applications.as_slice() {
            [application] if !application.name.is_empty() => application.name.as_str(),
            _ => trace.format.text(),
        };
        let span = self.seconds.1 - self.seconds.0;
        let _ = writeln!(
            svg,
            "<text x=\"{MARGIN}\" y=\"{}\" font-size=\"15\" font-weight=\"bold\">{}</text>\
             <text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#777\">{} attempts, {span:.1} s</text>",
            MARGIN + 12.0,
            escaped(name),
            WIDTH - MARGIN,
            MARGIN + 12.0,
            count(drawn as u128)
        );
        let mut x = MARGIN + NAMES;
        for (colour, what) in &paint.palette {
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.0}\" y=\"{}\" width=\"12\" height=\"12\" rx=\"2\" fill=\"{}\"/><text x=\"{:.0}\" y=\"{}\">{}</text>",
                MARGIN + 28.0,
                colour,
                x + 18.0,
                MARGIN + 38.5,
                what
            );
            x += 36.0 + 7.0 * what.len() as f64;
        }
        svg
    }

    /// Lines at round times, with their labels.
    fn grid(&self, svg: &mut String) {
        let (from, to) = self.seconds;
        let step = round_step((to - from) / 10.0);
        let bottom = self.height - AXIS - MARGIN;
        let decimals = if step >= 1.0 { 0 } else { 3 };
        let mut tick = (from / step).ceil();
        while tick * step <= to + 1e-9 {
            let x = self.x((tick * step * 1e6).round() as i64);
            let _ = writeln!(
                svg,
                "<line x1=\"{x:.1}\" y1=\"{:.0}\" x2=\"{x:.1}\" y2=\"{:.1}\" stroke=\"#e4e4e4\"/>\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555\">{:.decimals$}</text>",
                MARGIN + HEAD - 4.0,
                bottom + 2.0,
                bottom + 16.0,
                tick * step
            );
            tick += 1.0;
        }
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555\">seconds since the start</text>",
            WIDTH - MARGIN,
            bottom + 34.0
        );
    }

    fn names(&self, trace: &JobTrace, svg: &mut String) {
        // names that would overlap are left out
        let mut free_from = 0.0;
        for &index in &self.order {
            let Some(top) = self.tops[index] else { continue };
            let height = self.heights[index];
            let _ = writeln!(
                svg,
                "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"#f4f4f4\"/>",
                MARGIN + NAMES,
                WIDTH - 2.0 * MARGIN - NAMES
            );
            let y = top + height / 2.0 + 4.0;
            if y - 11.0 >= free_from {
                let name = trace.nodes.get(index).map_or("(no node)", |node| node.name.as_str());
                let _ = writeln!(
                    svg,
                    "<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{}</text>",
                    MARGIN + NAMES - 8.0,
                    escaped(&short(name))
                );
                free_from = y + 2.0;
            }
        }
    }

    /// Left, top, width and height.
    fn place(&self, drawn: &Drawn) -> (f64, f64, f64, f64) {
        let space = if self.lane >= 4.0 { 1.0 } else { 0.0 };
        let left = self.x(drawn.from);
        let width = (self.x(drawn.to) - left - 0.5 * space).max(0.6);
        let top = self.tops[drawn.node].unwrap_or(0.0) + drawn.lane as f64 * self.lane;
        (left, top, width, self.lane - space)
    }

    fn rectangles(&self, trace: &JobTrace, paint: &Paint, drawn: &[Drawn], svg: &mut String) {
        for (position, (colour, _)) in paint.palette.iter().enumerate() {
            let _ = writeln!(svg, "<g fill=\"{colour}\">");
            for drawn in drawn.iter().filter(|drawn| drawn.colour == position) {
                let (x, y, width, height) = self.place(drawn);
                let note = paint.notes.get(&drawn.index).map_or(String::new(), |note| format!("; {note}"));
                let about = about(trace, &trace.attempts()[drawn.index]) + &note;
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"><title>{}</title></rect>",
                    escaped(&about)
                );
            }
            *svg += "</g>\n";
        }
    }

    /// One path for all attempts of a colour: small, and quick to draw.
    fn paths(&self, paint: &Paint, drawn: &[Drawn], svg: &mut String) {
        for (position, (colour, _)) in paint.palette.iter().enumerate() {
            let _ = write!(svg, "<path fill=\"{colour}\" d=\"");
            for drawn in drawn.iter().filter(|drawn| drawn.colour == position) {
                let (x, y, width, height) = self.place(drawn);
                let _ = write!(svg, "M{x:.1} {y:.1}h{width:.1}v{height:.1}h-{width:.1}z");
            }
            *svg += "\"/>\n";
        }
    }
}

/// Tooltip of an attempt.
fn about(trace: &JobTrace, attempt: &Attempt) -> String {
    let stage = trace.stage(attempt.stage).map_or(0, |stage| stage.number);
    let time = attempt.duration().map_or_else(|| "no end".to_owned(), |time| format!("{time:.3} s"));
    let copy = if attempt.speculative { ", copy" } else { "" };
    let outcome = attempt.outcome.key().replace('_', " ");
    format!("stage {stage}, task {}, attempt {}: {time}, {outcome}{copy}", attempt.task, attempt.number)
}

/// 1, 2 or 5 times a power of ten, not below `step`.
fn round_step(step: f64) -> f64 {
    if !(step.is_finite() && step > 0.0) {
        return 1.0;
    }
    let power = 10_f64.powf(step.log10().floor());
    let found = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= step * (1.0 - 1e-9));
    found.unwrap_or(10.0) * power
}

/// The nodes that ran anything, by name: numbers in names by their size, and attempts without a node last.
fn in_order(trace: &JobTrace, lanes: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..lanes.len()).filter(|&node| lanes[node] > 0).collect();
    let key = |node: usize| trace.nodes.get(node).map(|node| padded(&node.name));
    order.sort_by_cached_key(|&node| (key(node).is_none(), key(node)));
    order
}

/// A name with zeros before its numbers, so that texts sort like numbers.
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

/// Characters of a node's name that fit.
const NODE_NAME: usize = 17;

fn short(name: &str) -> String {
    if name.chars().count() <= NODE_NAME {
        return name.to_owned();
    }
    let kept: String = name.chars().take(NODE_NAME - 3).collect();
    format!("{kept}...")
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
    fn steps_are_round() {
        assert_eq!([0.03, 1.0, 1.1, 4.0, 6.0, 70.0].map(round_step), [0.05, 1.0, 2.0, 5.0, 10.0, 100.0]);
        assert_eq!(round_step(0.0), 1.0);
    }
}
