//! The stragglers of a diagnosis over time: a band for each node, with a row for each cause. Labels next to the rows
//! make the picture readable without colours.

use std::collections::BTreeMap;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};

use crate::diagnose::{Cause, Finding, Subject};
use crate::document::Figure;
use crate::report::diagnosis::cause_text;
use crate::report::diagnosis_svg::CAUSES;
use crate::report::drawing::{Picture, PlotError, Width, can_be_axis, text_width};
use crate::report::number::counted;
use crate::report::plot::{self, Area, DrawError, fine_svg, label, line, px, shortened};

/// Height of a lane and of a node's name, the room between rows, and above and below all of them \[px\].
const LANE: i32 = 15;
const NAME: i32 = 24;
const GAP: i32 = 6;
const ROOM: i32 = 64;
/// Font size of names \[px\].
const LETTERS: i32 = 13;
/// Minimum visible width of a bar \[px\].
const LEAST: i32 = 3;
/// Maximum number of letters of a node's name.
const NODE: usize = 40;
/// Maximum number of stragglers that are drawn, and maximum number of lanes for bars that overlap.
const MOST: usize = 2000;
const MOST_LANES: usize = 120;

/// Returns the figure of the stragglers among the findings.
pub(super) fn stragglers_figure(findings: &[Finding]) -> Figure<'static> {
    let stragglers = Stragglers::new(findings);
    let mut caption = "Each bar is a straggler from its start to its end, in the row of its most likely cause on its node. Other tasks are not drawn."
        .to_owned();
    if stragglers.left_out > 0 {
        caption += &format!(" {} without times are not drawn.", counted(stragglers.left_out as u128, "straggler"));
    }
    Figure::new("Stragglers over time, by cause", caption).drawn(move || stragglers.picture())
}

/// Stragglers of one cause on one node.
struct Row {
    node: String,
    cause: Cause,
    /// Lanes of bars. The bars of a lane do not overlap; bars that would overlap are in further lanes.
    lanes: Vec<Vec<[f64; 2]>>,
}

/// The stragglers to draw, and the number of omitted stragglers. There is no picture if no straggler has known times.
struct Stragglers {
    rows: Vec<Row>,
    /// Stragglers without room, and stragglers with unknown times.
    left_out: usize,
}

impl Stragglers {
    /// Collects the tasks among the findings; for an attempt with several causes, the most certain one counts.
    fn new(findings: &[Finding]) -> Self {
        let mut attempts: BTreeMap<(&str, u64, u32), &Finding> = BTreeMap::new();
        for finding in findings {
            let Subject::Task { stage, task, attempt, .. } = &finding.subject else { continue };
            let best = attempts.entry((stage, *task, *attempt)).or_insert(finding);
            if finding.confidence > best.confidence {
                *best = finding;
            }
        }
        let all = attempts.len();
        let mut bars: Vec<([f64; 2], String, Cause)> = attempts.into_values().filter_map(bar).collect();
        bars.sort_by(|a, b| (b.0[1] - b.0[0]).total_cmp(&(a.0[1] - a.0[0])));
        bars.truncate(MOST);
        bars.sort_by(|a, b| a.0[0].total_cmp(&b.0[0]));
        let (rows, drawn) = rows(bars);
        Self { rows, left_out: all - drawn }
    }

    /// Returns the picture.
    ///
    /// # Errors
    ///
    /// [`PlotError`], which no report of this crate causes.
    fn picture(&self) -> Result<Option<Picture>, PlotError> {
        let bars = || self.rows.iter().flat_map(|row| row.lanes.iter().flatten());
        let from = bars().map(|bar| bar[0]).fold(0.0, f64::min);
        let to = bars().map(|bar| bar[1]).fold(from, f64::max);
        if self.rows.is_empty() || !can_be_axis(from, to) {
            return Ok(None);
        }
        let to = to + 0.02 * (to - from);
        let height = u32::try_from(ROOM + self.tops().1).unwrap_or(u32::MAX);
        Picture::new("stragglers", |width| {
            fine_svg((width.pixels(), height), |area| self.draw(area, [from, to], width))
        })
        .map(Some)
    }

    /// Distances from the first node's name to the start of each row's lanes, and to the end of the last lane \[px\].
    fn tops(&self) -> (Vec<i32>, i32) {
        let mut at = 0;
        let mut node = None;
        let mut tops = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            if node.replace(&row.node) != Some(&row.node) {
                at += NAME;
            }
            tops.push(at);
            at += LANE * i32::try_from(row.lanes.len()).unwrap_or(0) + GAP;
        }
        (tops, at)
    }

    fn draw(&self, area: &Area<'_>, [from, to]: [f64; 2], width: Width) -> Result<(), DrawError> {
        let left = self.rows.iter().map(|row| text_width(cause_text(row.cause), LETTERS)).max().unwrap_or(0) + 12;
        let mut chart = ChartBuilder::on(area)
            .margin(px(8))
            .margin_right(px(16))
            .x_label_area_size(px(46))
            .y_label_area_size(px(left))
            .build_cartesian_2d(from..to, 0.0..1.0)?;
        plot::axis_of_rows(
            &mut chart,
            width.of(10, 6),
            width.of("time since the start of the log [s]", "time [s]"),
            LETTERS,
        )?;
        let (start, top) = chart.backend_coord(&(from, 1.0));
        let (end, _) = chart.backend_coord(&(to, 1.0));
        let mut node = None;
        for (row, below) in self.rows.iter().zip(self.tops().0) {
            let y = top + px(below);
            if node.replace(&row.node) != Some(&row.node) {
                let name = shortened(&row.node, NODE);
                let style = label(LETTERS, BLACK, HPos::Left, VPos::Center);
                area.draw(&PathElement::new(
                    [(start, y - px(NAME)), (end, y - px(NAME))],
                    line(plot::GREY.mix(0.5), 1),
                ))?;
                area.draw(&Text::new(name, (start + px(6), y - px(NAME / 2)), style))?;
            }
            let middle = y + px(LANE) * i32::try_from(row.lanes.len()).unwrap_or(1) / 2;
            let style = label(LETTERS, BLACK, HPos::Right, VPos::Center);
            area.draw(&Text::new(cause_text(row.cause), (start - px(6), middle), style))?;
            let [red, green, blue] = cause_colour(row.cause);
            for (lane, number) in row.lanes.iter().zip(0_i32..) {
                let upper = y + px(LANE * number);
                for &[low, high] in lane {
                    let [low, high] = [low, high].map(|time| chart.backend_coord(&(time, 0.0)).0);
                    let corners = [(low, upper + px(1)), (high.max(low + px(LEAST)), upper + px(LANE - 1))];
                    area.draw(&Rectangle::new(corners, RGBColor(red, green, blue).filled()))?;
                }
            }
        }
        Ok(())
    }
}

/// Returns a finding's time, node and cause; `None` if it cannot be drawn.
fn bar(finding: &Finding) -> Option<([f64; 2], String, Cause)> {
    let Subject::Task { node, .. } = &finding.subject else { return None };
    let bar = [finding.from?, finding.to?];
    let name = node.clone().unwrap_or_else(|| "unknown node".to_owned());
    (bar[0] <= bar[1]).then_some((bar, name, finding.cause))
}

/// Returns the rows of nodes and causes, and the number of bars in each; `bars` are in order of their start.
fn rows(bars: Vec<([f64; 2], String, Cause)>) -> (Vec<Row>, usize) {
    let mut rows: BTreeMap<(String, Cause), Vec<Vec<[f64; 2]>>> = BTreeMap::new();
    let (mut drawn, mut lanes) = (0, 0);
    for (bar, node, cause) in bars {
        let key = (node, cause);
        let free = |lane: &&mut Vec<[f64; 2]>| lane.last().is_none_or(|last| last[1] <= bar[0]);
        if let Some(lane) = rows.get_mut(&key).and_then(|own| own.iter_mut().find(free)) {
            lane.push(bar);
        } else if lanes < MOST_LANES {
            rows.entry(key).or_default().push(vec![bar]);
            lanes += 1;
        } else {
            continue;
        }
        drawn += 1;
    }
    (rows.into_iter().map(|((node, cause), lanes)| Row { node, cause, lanes }).collect(), drawn)
}

/// Returns the colour of a cause, as red, green and blue.
fn cause_colour(cause: Cause) -> [u8; 3] {
    let text = CAUSES.iter().find(|(known, _)| *known == cause).map_or(CAUSES[0].1, |(_, colour)| colour);
    [1, 3, 5].map(|at| text.get(at..at + 2).and_then(|part| u8::from_str_radix(part, 16).ok()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(task: u64, node: &str, [from, to]: [f64; 2], cause: Cause, confidence: f64) -> Finding {
        Finding {
            method: crate::diagnose::FindingMethod::BigRoots,
            subject: Subject::Task { stage: "1".to_owned(), task, attempt: 0, node: Some(node.to_owned()) },
            from: Some(from),
            to: Some(to),
            at_least: false,
            first_wave: false,
            cause,
            score: 2.0,
            threshold: 1.5,
            confidence,
            evidence: Vec::new(),
        }
    }

    #[test]
    fn overlapping_stragglers_go_into_lanes_and_the_surest_cause_counts() {
        let findings = [
            finding(0, "a", [0.0, 4.0], Cause::Disk, 0.4),
            finding(0, "a", [0.0, 4.0], Cause::Cpu, 0.8),
            finding(1, "a", [2.0, 5.0], Cause::Cpu, 0.5),
            finding(2, "a", [4.0, 6.0], Cause::Cpu, 0.5),
            finding(3, "b", [1.0, 2.0], Cause::Unknown, 0.0),
            finding(4, "b", [3.0, 2.0], Cause::Unknown, 0.0),
        ];
        let drawn = Stragglers::new(&findings);
        let seen: Vec<_> = drawn.rows.iter().map(|row| (row.node.as_str(), row.cause, row.lanes.clone())).collect();
        let expected = [
            ("a", Cause::Cpu, vec![vec![[0.0, 4.0], [4.0, 6.0]], vec![[2.0, 5.0]]]),
            ("b", Cause::Unknown, vec![vec![[1.0, 2.0]]]),
        ];
        assert_eq!(seen, expected);
        assert_eq!(drawn.left_out, 1, "one ends before it begins");
        let picture = drawn.picture().unwrap().unwrap();
        // the colours of the two causes, and the causes as words
        for text in ["#C0392B", "#8A8A8A", "CPU", "unknown"] {
            assert!(picture.wide.contains(text) && picture.narrow.contains(text), "{text}");
        }
        assert!(Stragglers::new(&[]).picture().unwrap().is_none());
    }

    #[test]
    fn stragglers_without_room_in_the_plot_are_counted() {
        let findings: Vec<Finding> =
            (0..200).map(|task| finding(task, "a", [task as f64, 1000.0], Cause::Cpu, 0.5)).collect();
        let drawn = Stragglers::new(&findings);
        assert_eq!((drawn.rows[0].lanes.len(), drawn.left_out), (MOST_LANES, 80));
    }
}
