//! A histogram as text: columns of blocks above a time axis, with marks below the axis.

use crate::render::Look;
use crate::report::distribution::{Bar, Histogram};
use crate::report::number::{count, plain};

/// Lines of the columns.
const HEIGHT: usize = 8;
/// Steps of one character's height.
const EIGHTHS: usize = 8;
/// Characters to the left of the axis.
const MARGIN: usize = 10;
/// Narrowest and widest picture.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=80;
/// Number of samples below which bars are merged in pairs.
const FEW: u64 = 5_000;
/// Minimum number of characters between the starts of two labels of the axis.
const LABEL_SPACE: f64 = 12.0;

/// A marked position on the axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// Position \[s\].
    pub at: f64,
    /// Text of the label.
    pub label: String,
}

/// Returns the picture of a histogram in seconds; a line of text if all samples are equal, empty without samples.
pub fn histogram_text(histogram: &Histogram, marks: &[Mark], look: &Look) -> String {
    let (Some(first), Some(last)) = (histogram.bars.first(), histogram.bars.last()) else {
        return String::new();
    };
    if first.low >= last.high {
        if first.count == 1 {
            return format!("  the only sample is {} s\n", plain(first.low));
        }
        return format!("  all {} samples are {} s\n", count(first.count.into()), plain(first.low));
    }
    let (bars, width) = fit(&histogram.bars, look);
    let axis = Axis { low: first.low, high: last.high, columns: bars.len() * width };
    let mut text = columns(&bars, width, look);
    text.push_str(&axis.line(look));
    text.push_str(&axis.labels());
    text.push_str(&axis.marks(marks, look));
    if histogram.above > 0 {
        let total = histogram.above + bars.iter().map(|bar| bar.count).sum::<u64>();
        let share = 100.0 * histogram.above as f64 / total as f64;
        text.push_str(&format!(
            "{:MARGIN$}{} above {} s ({}%)\n",
            "",
            count(histogram.above.into()),
            plain(last.high),
            plain2(share)
        ));
    }
    text
}

fn plain2(value: f64) -> String {
    format!("{value:.2}")
}

/// Returns the bars, merged if necessary so that the picture fits the width and noise does not dominate; and the
/// columns of each bar.
fn fit(bars: &[Bar], look: &Look) -> (Vec<Bar>, usize) {
    let width = look.width.clamp(*WIDTHS.start(), *WIDTHS.end()) - MARGIN - 1;
    let total: u64 = bars.iter().map(|bar| bar.count).sum();
    let together = bars.len().div_ceil(width).max(if total < FEW { 2 } else { 1 });
    let joined = |part: &[Bar]| Bar {
        low: part[0].low,
        high: part[part.len() - 1].high,
        count: part.iter().map(|bar| bar.count).sum(),
    };
    let joined: Vec<Bar> = bars.chunks(together).map(joined).collect();
    let each = (width / joined.len()).clamp(1, together);
    (joined, each)
}

/// Returns the columns, highest line first, with the share of the largest bar at the top.
fn columns(bars: &[Bar], width: usize, look: &Look) -> String {
    let total: u64 = bars.iter().map(|bar| bar.count).sum();
    let most = bars.iter().map(|bar| bar.count).max().unwrap_or(0).max(1);
    let heights: Vec<usize> = bars.iter().map(|bar| height(bar.count, most)).collect();
    let mut text = String::new();
    for line in (0..HEIGHT).rev() {
        let label = if line + 1 == HEIGHT {
            format!("{:.1}%", 100.0 * most as f64 / total.max(1) as f64)
        } else {
            String::new()
        };
        let cells: String =
            heights.iter().flat_map(|&h| [cell(h.saturating_sub(line * EIGHTHS), look)].repeat(width)).collect();
        text.push_str(format!("{label:>width$} {}{cells}", look.either("│", "|"), width = MARGIN - 2).trim_end());
        text.push('\n');
    }
    text
}

/// Returns the height of a bar in eighths of a line; a bar with samples is at least one eighth high.
fn height(count: u64, most: u64) -> usize {
    let full = (HEIGHT * EIGHTHS) as u128;
    let eighths = (u128::from(count) * full * 2 + u128::from(most)) / (u128::from(most) * 2);
    usize::try_from(eighths).unwrap_or(0).max(usize::from(count > 0))
}

/// Returns the character of a column that fills this many eighths of a line.
fn cell(eighths: usize, look: &Look) -> char {
    const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const ASCII: [char; 9] = [' ', '.', '.', '.', ':', ':', ':', '#', '#'];
    let blocks = if look.unicode { BLOCKS } else { ASCII };
    blocks[eighths.min(EIGHTHS)]
}

/// The horizontal axis: from `low` to `high`, with a given number of columns.
struct Axis {
    low: f64,
    high: f64,
    columns: usize,
}

impl Axis {
    fn column(&self, value: f64) -> usize {
        let share = (value - self.low) / (self.high - self.low);
        let column = (share * self.columns as f64).floor().max(0.0) as usize;
        column.min(self.columns - 1)
    }

    /// Returns round numbers on the axis, ascending.
    fn ticks(&self) -> Vec<f64> {
        let least = (self.high - self.low) * LABEL_SPACE / self.columns as f64;
        let power = 10_f64.powf(least.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|step| *step >= least);
        let step = step.unwrap_or(10.0 * power);
        let mut ticks = Vec::new();
        let mut index = (self.low / step).ceil();
        while index * step <= self.high && ticks.len() < self.columns {
            ticks.push(index * step);
            index += 1.0;
        }
        ticks
    }

    fn line(&self, look: &Look) -> String {
        let mut cells = vec![look.either("─", "-"); self.columns];
        for tick in self.ticks() {
            cells[self.column(tick)] = look.either("┬", "+");
        }
        format!("{:>width$} {}{}\n", "0", look.either("└", "+"), cells.concat(), width = MARGIN - 2)
    }

    fn labels(&self) -> String {
        let mut line = Line::default();
        let ticks = self.ticks();
        for (i, &tick) in ticks.iter().enumerate() {
            let unit = if i == 0 { " s" } else { "" };
            let label = format!("{}{unit}", plain(tick));
            let width = label.chars().count() - unit.len();
            line.put(MARGIN + self.column(tick) - (width - 1) / 2, &label);
        }
        line.text()
    }

    /// Marks with their labels, on as many lines as necessary to separate them.
    fn marks(&self, marks: &[Mark], look: &Look) -> String {
        let mut lines: Vec<Line> = Vec::new();
        for mark in marks {
            let column = MARGIN + self.column(mark.at);
            let label = format!("{}{}", look.either("▲", "^"), mark.label);
            let fitting = lines.iter_mut().find(|line| line.length() < column);
            match fitting {
                Some(line) => line.put(column, &label),
                None => {
                    let mut line = Line::default();
                    line.put(column, &label);
                    lines.push(line);
                }
            }
        }
        lines.iter().map(Line::text).collect()
    }
}

/// A line of text that is filled from left to right.
#[derive(Default)]
struct Line(Vec<char>);

impl Line {
    fn length(&self) -> usize {
        self.0.len()
    }

    /// Writes `label` from `column` on, unless the space is taken.
    fn put(&mut self, column: usize, label: &str) {
        if self.0.is_empty() || self.0.len() < column {
            self.0.resize(column, ' ');
            self.0.extend(label.chars());
        }
    }

    fn text(&self) -> String {
        self.0.iter().chain(&['\n']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle() -> Histogram {
        let bar = |i: u32, count| Bar { low: f64::from(i), high: f64::from(i + 1), count };
        Histogram { bars: (0..60).map(|i| bar(i, u64::from(60 - i))).collect(), above: 3 }
    }

    fn marks() -> Vec<Mark> {
        [(17.0, "p50"), (46.0, "p95"), (47.0, "p99")].map(|(at, label)| Mark { at, label: label.to_owned() }).into()
    }

    #[test]
    fn fits_into_80_columns_and_into_40() {
        for width in [10, 40, 57, 80, 200] {
            for unicode in [true, false] {
                let text = histogram_text(&triangle(), &marks(), &Look { width, unicode, ..Look::default() });
                let limit = width.clamp(40, 80);
                assert!(text.lines().all(|line| line.chars().count() <= limit), "{width}\n{text}");
                assert_eq!(text.is_ascii(), !unicode);
            }
        }
    }

    #[test]
    fn marks_that_are_close_go_on_two_lines() {
        let text = histogram_text(&triangle(), &marks(), &Look::default());
        let lines: Vec<&str> = text.lines().collect();
        let at = |label: &str| lines.iter().position(|line| line.contains(label)).unwrap();
        assert_eq!((at("p50"), at("p95"), at("p99")), (10, 10, 11));
        assert!(text.ends_with("3 above 60 s (0.16%)\n"));
    }

    #[test]
    fn equal_samples_are_told_in_words() {
        let bars = vec![Bar { low: 2.5, high: 2.5, count: 1000 }];
        let text = histogram_text(&Histogram { bars, above: 0 }, &[], &Look::default());
        assert_eq!(text, "  all 1,000 samples are 2.5 s\n");
        assert_eq!(histogram_text(&Histogram::default(), &[], &Look::default()), "");
    }
}
