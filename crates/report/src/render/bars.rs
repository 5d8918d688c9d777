//! Rows of bars on one axis, as text.

use unicode_width::UnicodeWidthStr;

use crate::render::look::Look;
use crate::report::plain;
use crate::report::rows_plot::BarRow;

/// Maximum number of characters of a name.
const LONGEST_NAME: usize = 28;
/// Minimum number of and most characters of the axis.
const AXIS: [usize; 2] = [10, 50];

/// Returns rows of bars from their common axis, with marks and the text next to each bar; empty without a length.
pub(crate) fn bars_text(axis: &str, rows: &[BarRow], look: &Look) -> String {
    let ends = rows.iter().flat_map(|row| row.bar.into_iter().chain(row.marks.iter().copied()));
    let (from, to) = ends.fold((0.0, 0.0), |(from, to): (f64, f64), end| (from.min(end), to.max(end)));
    if rows.is_empty() || !(to - from).is_normal() {
        return String::new();
    }
    let names: Vec<String> = rows.iter().map(|row| begun(&row.name, look)).collect();
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let left = widest(&mut names.iter().map(|name| name.width()));
    let right = widest(&mut rows.iter().map(|row| look.words(&row.text).width()));
    let [least, most] = AXIS;
    let columns = look.columns().saturating_sub(left + right + 5).clamp(least, most);
    let place = |value: f64| ((value - from) / (to - from) * columns as f64).round() as usize;
    let (full, mark) = (look.either("█", "#"), look.either("┊", "|"));
    let mut text = if axis.is_empty() { String::new() } else { format!("  {}\n", look.words(axis)) };
    for (row, name) in rows.iter().zip(&names) {
        let mut cells = vec![" "; columns];
        let [start, end] = row.bar.map(place);
        // a bar that is not empty can be seen
        let end = if row.bar[1] > row.bar[0] { end.max(start + 1) } else { end };
        cells.iter_mut().take(end).skip(start.min(columns - 1)).for_each(|cell| *cell = full);
        for &value in &row.marks {
            cells[place(value).saturating_sub(1).min(columns - 1)] = mark;
        }
        let blanks = " ".repeat(left - name.width());
        let line = format!("  {name}{blanks} {} {}", cells.concat(), look.words(&row.text));
        text += line.trim_end();
        text.push('\n');
    }
    let ends = format!("{:width$}{}", plain(from), plain(to), width = columns.saturating_sub(plain(to).len()));
    text + &format!("  {:left$} {ends}\n", "")
}

/// The start of a long name.
fn begun(name: &str, look: &Look) -> String {
    if name.width() <= LONGEST_NAME {
        return name.to_owned();
    }
    let end = look.either("…", "...");
    name.chars().take(LONGEST_NAME - end.width()).collect::<String>() + end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_start_where_they_start() {
        let row = |name: &str, bar, marks: &[f64]| BarRow {
            name: name.to_owned(),
            bar,
            marks: marks.to_vec(),
            text: format!("{} s", bar[1]),
            ..BarRow::default()
        };
        let rows = [row("map", [0.0, 5.0], &[2.5]), row("reduce", [5.0, 10.0], &[])];
        let text = bars_text("time [s]", &rows, &Look { unicode: false, width: 40, ..Look::default() });
        let expected = concat!(
            "  map    ##########|##########           5 s\n",
            "  reduce                      ########## 10 s\n"
        );
        assert_eq!(text.lines().count(), expected.lines().count() + 2, "{text}");
        assert!(text.lines().all(|line| line.width() <= 50), "{text}");
        assert_eq!(bars_text("", &[row("none", [0.0, 0.0], &[])], &Look::default()), "");
    }
}
