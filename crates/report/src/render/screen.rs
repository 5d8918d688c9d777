//! The six blocks of an answer as text for a terminal.

use unicode_width::UnicodeWidthStr;

use crate::document::{NextCommand, Screen, ScreenChange, ScreenShares, ScreenVerdict, Typed};
use crate::render::look::{Look, lines, wrapped};
use crate::render::table::table_text;

/// Cells of a bar for the whole.
const WHOLE: u32 = 18;

/// Returns the text of a screen, with commands about what was typed.
pub(super) fn screen_text(screen: &Screen, typed: &Typed, look: &Look) -> String {
    let mut parts = vec![wrapped(&screen.answer, look, "")];
    parts.extend(screen.own_run.as_ref().map(|verdict| verdict_text(verdict, look)));
    parts.push(shares_text(&screen.parts, look));
    parts.extend(
        screen.tables.iter().filter(|table| !table.rows.is_empty()).filter_map(|table| table_text(table, look)),
    );
    parts.push(changes_text(&screen.changes, look));
    let one = |text: &'_ String| Some(text.clone()).filter(|text| !text.is_empty());
    let labelled = block("To try", one(&screen.to_try).as_deref(), look)
        + &block("Refused", one(&screen.refused).as_deref(), look)
        + &block("Read as", one(&screen.read_as).as_deref(), look)
        + &block("Assumed", screen.assumed.iter().map(String::as_str), look)
        + &block("Not known", screen.unknown.iter().map(String::as_str), look);
    parts.push(labelled + &next_text(&screen.next, typed, look));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// Returns prose behind a label, which stands at the margin; further lines are indented below the prose.
fn block<'t>(label: &str, prose: impl IntoIterator<Item = &'t str>, look: &Look) -> String {
    let indent = label.width() + 3;
    let mut text = String::new();
    for prose in prose {
        for line in lines(&look.words(prose), look.columns().saturating_sub(indent)) {
            text += &if text.is_empty() {
                format!("{}   {line}\n", label_text(label, look))
            } else {
                format!("{}{line}\n", " ".repeat(indent))
            };
        }
    }
    text
}

fn label_text(label: &str, look: &Look) -> String {
    look.heading(label).trim_end_matches('\n').to_owned()
}

fn verdict_text(verdict: &ScreenVerdict, look: &Look) -> String {
    let mut found = verdict.lines.iter();
    let first = found.next().map_or_else(String::new, |line| block(verdict.label, [line.as_str()], look));
    first + &found.map(|line| format!("  {}", wrapped(line, &look.narrower(2), "    "))).collect::<String>()
}

fn shares_text(shares: &ScreenShares, look: &Look) -> String {
    if shares.rows.is_empty() {
        return String::new();
    }
    let name_width = shares.rows.iter().map(|row| row.0.width()).max().unwrap_or(0);
    let time_width = shares.rows.iter().map(|row| row.1.width()).max().unwrap_or(0);
    // before the bar: indent, gaps, and a share with its sign
    let room = look.columns().saturating_sub(name_width + time_width + 12);
    let row = |(name, time, percent): &(String, String, u32)| {
        let cells = ((percent * WHOLE).div_ceil(100).min(WHOLE) as usize).min(room);
        let gap = " ".repeat(name_width - name.width() + 2 + time_width - time.width());
        let bar = look.either("█", "#").repeat(cells);
        format!("{}\n", format!("  {name}{gap}{time}  {percent:>3}%  {bar}").trim_end())
    };
    look.heading(&shares.title) + &shares.rows.iter().map(row).collect::<String>()
}

fn changes_text(changes: &[ScreenChange], look: &Look) -> String {
    const TITLE: &str = "What would change it";
    if changes.is_empty() {
        return String::new();
    }
    let width = |part: fn(&ScreenChange) -> &str| changes.iter().map(|change| part(change).width()).max().unwrap_or(0);
    let [time_width, saves_width] = [width(|change| &change.time).max(4), width(|change| &change.saves).max(5)];
    let most = look.columns().saturating_sub(time_width + saves_width + 6);
    let what_width = width(|change| &change.what).clamp(TITLE.width(), most.max(TITLE.width()));
    let head = format!(
        "{TITLE}{}  {:>time_width$}  {:>saves_width$}",
        " ".repeat(what_width + 2 - TITLE.width()),
        "time",
        "saves"
    );
    let mut text = look.heading(&head);
    for change in changes {
        for (i, line) in lines(&look.words(&change.what), what_width).into_iter().enumerate() {
            let gap = " ".repeat(what_width.saturating_sub(line.width()));
            text += &match i {
                0 => format!("  {line}{gap}  {:>time_width$}  {:>saves_width$}\n", change.time, change.saves),
                _ => format!("    {line}\n"),
            };
        }
    }
    text
}

/// Returns the commands for the next questions.
pub(super) fn next_text(next: &[NextCommand], typed: &Typed, look: &Look) -> String {
    let next = NextCommand::about(next, typed);
    if next.is_empty() {
        return String::new();
    }
    // what a long command gives stands on a line of its own
    let next: Vec<NextCommand> = next
        .into_iter()
        .map(|next| NextCommand { command: continued(&next.command, look.columns()), ..next })
        .collect();
    let fits = |next: &&NextCommand| next.command.width() + next.gives.width() + 5 <= look.columns();
    let width = next.iter().filter(fits).map(|next| next.command.width()).max().unwrap_or(0);
    let mut text = look.heading("Next");
    for next in &next {
        let gap = if width + next.gives.width() + 5 > look.columns() || next.command.width() > width {
            "\n      ".to_owned()
        } else {
            " ".repeat(width - next.command.width() + 3)
        };
        text += format!("  {}{gap}{}", next.command, next.gives).trim_end();
        text += "\n";
    }
    text
}

/// Breaks a command that is too long for a line before its options, as a shell takes it.
fn continued(command: &str, columns: usize) -> String {
    const INDENT: usize = 6;
    // the mark at the end of a line, and the space before it
    const MARK: usize = 2;
    if command.width() + 2 <= columns {
        return command.to_owned();
    }
    let (mut text, mut used) = (String::new(), 2);
    for (i, part) in command.split(" --").enumerate() {
        let part = if i == 0 { part.to_owned() } else { format!("--{part}") };
        if i > 0 && used + 1 + part.width() + MARK > columns {
            text += &format!(" \\\n{}", " ".repeat(INDENT));
            used = INDENT;
        } else if i > 0 {
            text.push(' ');
            used += 1;
        }
        text += &part;
        used += part.width();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::NextCommand;

    #[test]
    fn long_commands_are_continued_before_an_option() {
        assert_eq!(continued("tailspn why a", 80), "tailspn why a");
        let long = "tailspn estimate a/long/name --input-size 3x --deadline 85s";
        assert_eq!(continued(long, 40), "tailspn estimate a/long/name \\\n      --input-size 3x --deadline 85s");
        assert_eq!(continued(long, 48).replace(" \\\n     ", ""), long);
    }

    #[test]
    fn a_screen_has_its_blocks_in_order() {
        let screen = Screen {
            answer:
                "The next run takes 50 s (90%: 30 s to 81 s) on the same 4 executors, with the same input of 6.0 MiB."
                    .to_owned(),
            own_run: Some(ScreenVerdict {
                label: "Reproduced",
                lines: vec!["logged 50.3 s, model 49.8 s (-1%)".to_owned()],
            }),
            parts: ScreenShares {
                title: "Where the 50 s go".to_owned(),
                rows: vec![
                    ("executors start".to_owned(), "10 s".to_owned(), 19),
                    ("0 collect".to_owned(), "2 s".to_owned(), 5),
                ],
            },
            changes: vec![ScreenChange {
                what: "8 executors, not 4".to_owned(),
                time: "36 s".to_owned(),
                saves: "14 s".to_owned(),
            }],
            tables: Vec::new(),
            to_try: String::new(),
            refused: String::new(),
            read_as: String::new(),
            assumed: vec!["runs differ by 15%".to_owned(), "hosts are alike".to_owned()],
            unknown: Vec::new(),
            next: vec![NextCommand { command: "tailspn why LOG".to_owned(), gives: "what each cause cost".to_owned() }],
        };
        let typed = Typed { words: vec!["fan.gz".to_owned()], is_log: true, ..Typed::default() };
        let expected = "The next run takes 50 s (90%: 30 s to 81 s) on the same 4 executors, with the\nsame input of 6.0 MiB.\n\n\
                        Reproduced   logged 50.3 s, model 49.8 s (-1%)\n\n\
                        Where the 50 s go\n  executors start  10 s   19%  ####\n  0 collect         2 s    5%  #\n\n\
                        What would change it    time  saves\n  8 executors, not 4    36 s   14 s\n\n\
                        Assumed   runs differ by 15%\n          hosts are alike\nNext\n  tailspn why fan.gz   what each cause cost\n";
        let look = Look { unicode: false, ..Look::default() };
        assert_eq!(screen_text(&screen, &typed, &look), expected);
        assert_eq!(screen_text(&Screen::default(), &Typed::default(), &look), "");
    }
}
