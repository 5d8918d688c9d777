//! Rows of bars on one axis, as text.

use unicode_width::UnicodeWidthStr;

use crate::render::look::{Look, wrapped};
use crate::report::bar_rows::{BarRow, are_spans};
use crate::report::plain;

/// Minimum number of characters of a long name that are kept in a narrow terminal.
const KEPT_NAME: usize = 12;
/// Width of the axis in characters: minimum, minimum next to long names, and maximum.
const AXIS: [usize; 3] = [10, 20, 50];

/// Returns rows of bars on a common axis, with marks and the text next to each bar; empty if all bars have length 0.
pub(crate) fn bars_text(axis: &str, rows: &[BarRow], look: &Look) -> String {
    let ends = rows.iter().flat_map(|row| row.bar.into_iter().chain(row.marks.iter().copied()));
    let (from, to) = ends.fold((0.0, 0.0), |(from, to): (f64, f64), end| (from.min(end), to.max(end)));
    if rows.is_empty() || !(to - from).is_normal() {
        return String::new();
    }
    let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let right = widest(&mut rows.iter().map(|row| look.words(&row.text).width()));
    let [least, wanted, most] = AXIS;
    let room = look.columns().saturating_sub(right + 5 + wanted).max(KEPT_NAME);
    let names: Vec<String> = rows.iter().map(|row| begun(&row.name, room, look)).collect();
    let left = widest(&mut names.iter().map(|name| name.width()));
    let columns = look.columns().saturating_sub(left + right + 5).clamp(least, most);
    let place = |value: f64| ((value - from) / (to - from) * columns as f64).round() as usize;
    let (full, mark) = (look.either("█", "#"), look.either("┊", "|"));
    let ends = if are_spans(rows) { "; the number next to a bar is the value at its end" } else { "" };
    let mut text =
        if axis.is_empty() { String::new() } else { format!("  {}", wrapped(&format!("{axis}{ends}"), look, "  ")) };
    for (row, name) in rows.iter().zip(&names) {
        let mut cells = vec![" "; columns];
        let [start, end] = row.bar.map(place);
        // a bar of positive length is always visible
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

/// Shortens a name to a width; keeps the start.
fn begun(name: &str, room: usize, look: &Look) -> String {
    if name.width() <= room {
        return name.to_owned();
    }
    let end = look.either("…", "...");
    name.chars().take(room.saturating_sub(end.width())).collect::<String>() + end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_drawn_from_their_start_values() {
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
        assert_eq!(text.lines().count(), expected.lines().count() + 3, "{text}");
        assert!(text.starts_with("  time [s]; the number next to a bar is\n  the value at its end\n"), "{text}");
        assert!(text.lines().all(|line| line.width() <= 50), "{text}");
        let long = [row("0 reduceByKey at /job/app.py:27, a name", [0.0, 5.0], &[])];
        let named = |width| bars_text("time [s]", &long, &Look { width, ..Look::default() });
        assert!(named(80).contains("app.py:27, a name █") && named(40).contains("  0 reduceByK… █"), "{}", named(40));
        assert_eq!(bars_text("", &[row("none", [0.0, 0.0], &[])], &Look::default()), "");
    }
}
