//! The help of the whole tool, on terminals of any width.

use clap::Command;

/// The end of the short help.
pub(crate) const MORE: &str = "`tailspn FILE...` shows what files are, and what to ask. `tailspn COMMAND --help` shows the options and examples of a command.";

/// Maximum width of a help text in columns.
const MOST_COLUMNS: usize = 100;

/// Minimum width at which every example is printed as written, in columns.
const EXAMPLE_COLUMNS: usize = 80;

/// Returns the width of help texts: the terminal's width, determined as clap does, at most [`MOST_COLUMNS`].
pub(crate) fn columns() -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let told = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal.or_else(told).unwrap_or(MOST_COLUMNS).min(MOST_COLUMNS)
}

/// Options that only `--help` shows, besides the groups of [`RARE_GROUPS`].
const RARE: &str = "now late-effort gpus-per-executor concurrent-gpu-tasks slots no-slots no-fold csv-escape markdown plot-format \
                    force color trust-misfit transitions avoid within events resume \
                    max-points budget-replications budget-time measure rows usual level attempts timeline model profile method margin \
                    hog-share rare-share plot save-net export-mtx draw-vanishing grid-steps ignore-priorities late-dead read-as param tokens throughput impulse group warm-up max-firings steady-runs \
                    steady-firings abs-error engine samples export-prism export-generator export-graph clock-offset utc-offset \
                    node-map only alongside save-cluster ignore time-column machines-column size-column log-input-size log-cores log-permits gpu-permits job reward at speculation events keep-erlang copies";
/// Groups of options that only `--help` shows.
const RARE_GROUPS: [&str; 12] = [
    "Run",
    "Limits",
    "Parts",
    "Samples",
    "Rules",
    "Progress and system calls",
    "System calls",
    "Reading the net",
    "Model",
    "Plan",
    "Clock",
    "Nets",
];

/// Returns the command with short help that fits a screen: rare options are left out, and others have one clause.
fn brief(command: Command) -> Command {
    let command = command.mut_subcommands(brief);
    command.mut_args(|arg| {
        let is_rare = arg.get_help_heading().is_some_and(|group| RARE_GROUPS.contains(&group))
            || arg.get_long().is_some_and(|name| RARE.split_whitespace().any(|rare| rare == name));
        let Some(help) = arg.get_help().map(ToString::to_string) else { return arg };
        let long = arg.get_long_help().map_or_else(|| help.clone(), ToString::to_string);
        let short = clause(&help).to_owned();
        arg.hide_short_help(is_rare).long_help(long).help(short)
    })
}

/// Returns the first clause of a help text.
fn clause(help: &str) -> &str {
    const ENDS: [&str; 9] = ["; ", ". ", " (", ": ", ", or ", ", and ", ", to ", ", such as ", " [default"];
    // fewer characters say nothing
    const LEAST: usize = 10;
    let at = |end: &str| help.match_indices(end).map(|(at, _)| at).find(|at| *at >= LEAST);
    ENDS.iter().filter_map(|end| at(end)).min().map_or(help, |end| &help[..end])
}

/// Returns the command with help texts for a terminal of `columns` columns.
pub(crate) fn fitted(command: Command, columns: usize) -> Command {
    let command = brief(command.term_width(columns));
    if columns < EXAMPLE_COLUMNS { narrowed(command, columns) } else { command }
}

/// Returns the command with the examples of all subcommands wrapped for a narrow terminal.
fn narrowed(command: Command, columns: usize) -> Command {
    let command = command.mut_subcommands(|command| narrowed(command, columns));
    match command.get_after_long_help().map(|text| narrowed_text(&text.to_string(), columns)) {
        Some(text) => command.after_long_help(text),
        None => command,
    }
}

/// Breaks comments before words, and commands before arguments with `\` at the ends of lines, so that they can still be copied.
/// clap breaks the rest.
fn narrowed_text(text: &str, columns: usize) -> String {
    let mut lines = Vec::new();
    for line in joined(text).lines() {
        if line.len() <= columns {
            lines.push(line.to_owned());
        } else if let Some(comment) = line.strip_prefix("    # ") {
            lines.extend(wrapped(comment.split(' '), ["    # "; 2], "", columns));
        } else if let Some(command) = line.strip_prefix("    ").filter(|line| is_command(line)) {
            let arguments = arguments(command, columns);
            lines.extend(wrapped(arguments.iter().map(|part| &part[..]), ["    ", "        "], " \\", columns));
        } else {
            lines.push(line.to_owned());
        }
    }
    lines.join("\n") + "\n"
}

/// Returns a text in which each command that continues on further lines is one line.
fn joined(text: &str) -> String {
    let parts = text.split(" \\\n").enumerate();
    parts.map(|(i, part)| if i == 0 { part.to_owned() } else { format!(" {}", part.trim_start()) }).collect()
}

fn is_command(line: &str) -> bool {
    ["tailspn ", "collector "].iter().any(|start| line.starts_with(start))
}

/// Splits a command into arguments. An option and its value stay together if both fit a line. Spaces between `'` do not
/// split.
fn arguments(command: &str, columns: usize) -> Vec<String> {
    let mut quoted = false;
    let between = |letter: char| {
        quoted ^= letter == '\'';
        letter == ' ' && !quoted
    };
    let mut arguments: Vec<String> = Vec::new();
    for word in command.split(between) {
        match arguments.last_mut() {
            Some(option)
                if option.starts_with('-')
                    && !option.contains(' ')
                    && !word.starts_with('-')
                    && option.len() + word.len() + 11 <= columns =>
            {
                option.push(' ');
                option.push_str(word);
            }
            _ => arguments.push(word.to_owned()),
        }
    }
    arguments
}

/// Wraps words to lines of at most `columns` columns; a longer word gets a line of its own. `start` holds the text before
/// the first line and before later lines, `end` the text after each line except the last.
fn wrapped<'a>(words: impl Iterator<Item = &'a str>, start: [&str; 2], end: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = start[0].to_owned();
    let mut empty = true;
    for word in words {
        let length = [&line, word, end].iter().map(|part| part.chars().count()).sum::<usize>() + 1;
        if !empty && length > columns {
            lines.push(line + end);
            line = start[1].to_owned();
        } else if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::args::Cli;
    use crate::cli::generated;

    /// Columns of a small terminal.
    const COLUMNS: usize = 80;

    fn all(command: &Command) -> Vec<Command> {
        let below = command.get_subcommands().flat_map(all);
        std::iter::once(command.clone()).chain(below).collect()
    }

    /// Pages of commands without a page of the same name.
    const PAGES: [(&str, &str); 14] = [
        ("net convert", "formats.md"),
        ("net simulate", "solve.md#which-method"),
        ("estimate", "planning.md"),
        ("why", "diagnose.md"),
        ("whatif", "logs.md#what-other-policies-would-have-done"),
        ("tool fit", "fit.md"),
        ("tool profile", "syscalls.md"),
        ("tool detectors", "detection.md"),
        ("study", "sweeps.md"),
        ("tool merge", "sweeps.md#shards"),
        ("tool schema", "json.md#schemas"),
        ("tool devices", "gpu.md"),
        ("tool bench", "gpu.md"),
        ("tool setup", "install.md#shell-completions-and-man-pages"),
    ];

    /// Returns a command for a table, with a link to its page.
    fn linked(name: &str) -> String {
        let own = format!("{}.md", name.trim_start_matches("net "));
        let exists = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(&own).exists();
        match PAGES.iter().find(|(command, _)| *command == name) {
            Some((_, page)) => format!("[`{name}`]({page})"),
            None if exists => format!("[`{name}`]({own})"),
            None => format!("`{name}`"),
        }
    }

    #[test]
    fn the_page_of_commands_has_every_command() {
        let command = Cli::command();
        let row = |path: &str, found: &Command| {
            let about = found.get_long_about().or(found.get_about()).unwrap().to_string();
            format!("| {} | {} |\n", linked(path), about.replace("\n\n", ". "))
        };
        let head = "| command | what it does |\n|---|---|\n";
        let mut page = head.to_owned();
        page.extend(command.get_subcommands().map(|found| row(found.get_name(), found)));
        for found in command.get_subcommands().filter(|found| found.has_subcommands()) {
            let name = found.get_name();
            let title = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
            page += &format!("\n## {title}\n\n{head}");
            page.extend(found.get_subcommands().map(|below| row(&format!("{name} {}", below.get_name()), below)));
        }
        let start = "<!-- generated from the help texts; src/cli/args/help.rs compares it -->\n";
        if cfg!(all(feature = "gpu", feature = "serve")) {
            generated::compare("docs/commands.md", start, &page);
        }
    }

    /// Returns the long help of every command for a terminal of `columns` columns, without usage lines.
    fn rendered(columns: usize) -> Vec<(String, String)> {
        let mut command = fitted(Cli::command(), columns);
        command.build();
        let text = |mut command: Command| {
            let usage = command.render_usage().to_string();
            (command.get_name().to_owned(), command.render_long_help().to_string().replace(usage.trim_end(), ""))
        };
        all(&command).into_iter().map(text).collect()
    }

    #[test]
    fn help_fits_every_terminal() {
        for columns in [40, 60, 80, 120] {
            for (name, text) in rendered(columns) {
                for line in text.lines().map(str::trim_end) {
                    let fits = line.chars().count() <= columns || !line.trim().contains(' ');
                    assert!(fits, "{name} at {columns} columns: {line}");
                }
            }
        }
    }

    /// A line ends only where the next word does not fit. A text that was wrapped twice has lines that end early.
    #[test]
    fn no_line_ends_early_on_any_terminal() {
        for columns in [40, 60, 80, 120] {
            for ((name, wide), (_, text)) in rendered(10_000).into_iter().zip(rendered(columns)) {
                let text = if columns < EXAMPLE_COLUMNS { text } else { joined(&text) };
                let mut lines = text.lines().map(str::trim_end);
                for line in joined(&wide).lines() {
                    let first = lines.next().unwrap();
                    let (mut last, mut count) = (first, words(first).len());
                    while count < words(line).len() {
                        let next = lines.next().unwrap();
                        let word = match next.trim_start() {
                            start if is_command(line.trim_start()) => arguments(start, columns).swap_remove(0),
                            _ => words(next)[0].to_owned(),
                        };
                        let length = last.chars().count() + 1 + word.chars().count();
                        // a quoted argument that no line has room for is broken by clap
                        let is_broken = is_command(line.trim_start()) && last.matches('\'').count() % 2 == 1;
                        let early = length <= columns && !is_broken;
                        assert!(!early, "{name} at {columns} columns ends early: {last}");
                        (last, count) = (next, count + words(next).len());
                    }
                    assert_eq!(count, words(line).len(), "{name} at {columns} columns: {line}");
                }
            }
        }
    }

    /// Returns the words of a line, without the marks of continued commands and of comments.
    fn words(line: &str) -> Vec<&str> {
        line.split_whitespace().filter(|word| !matches!(*word, "\\" | "#")).collect()
    }

    #[test]
    fn a_narrow_example_can_be_copied() {
        let text = "Text that clap breaks by itself, whatever its length is.\n\n    # what this is about, in many words\n    \
            tailspn net solve net.xml \\\n        --until '#(done) >= 3' --steady\n";
        let narrow = "Text that clap breaks by itself, whatever its length is.\n\n    # what this is about, in many\n    # words\n    \
            tailspn net solve net.xml \\\n        --until '#(done) >= 3' \\\n        --steady\n";
        assert_eq!(narrowed_text(text, 34), narrow);
        assert!(narrowed_text(text, 28).contains("--until \\\n        '#(done) >= 3' \\\n"));
    }

    /// Verbs that a short description may start with.
    const VERBS: [&str; 27] = [
        "Analyse", "Answer", "Check", "Compare", "Estimate", "Explain", "Find", "Fit", "Follow", "Install", "Learn",
        "List", "Make", "Measure", "Merge", "Predict", "Print", "Put", "Rank", "Run", "Serve", "Set", "Show",
        "Simulate", "Solve", "Split", "Write",
    ];

    #[test]
    fn short_descriptions_are_short_imperatives() {
        for command in all(&Cli::command()) {
            let about = command.get_about().unwrap().to_string();
            assert!(VERBS.contains(&about.split([' ', ',']).next().unwrap()), "{about}");
            assert!(about.chars().count() <= 60 && !about.ends_with('.'), "{about}");
        }
    }

    /// Usage lines without what is in brackets.
    fn required(usage: &str) -> Vec<String> {
        let mut depth = 0_i32;
        let mut text = String::new();
        for letter in usage.trim_start_matches("Usage:").chars() {
            depth += i32::from(letter == '[');
            if depth == 0 {
                text.push(letter);
            }
            depth -= i32::from(letter == ']');
        }
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn usage_shows_what_is_required() {
        let mut command = Cli::command();
        command.build();
        let leaves = all(&command)
            .into_iter()
            .filter(|sub| !sub.has_subcommands() && sub.get_bin_name().is_some_and(|name| !name.contains("help")));
        for mut sub in leaves {
            let name = sub.get_name().to_owned();
            let usage = required(&sub.render_usage().to_string());
            let alone = sub.get_bin_name().unwrap_or_default().to_owned();
            let runs_alone = Cli::command().try_get_matches_from(alone.split(' ')).is_ok();
            assert_eq!(usage.iter().any(|line| line.trim_end_matches(" ...") == alone), runs_alone, "{usage:?}");
            // each line is enough
            for line in usage {
                let words = line.replace("...", "").replace("<KEY=VALUE>", "a=1").replace(['<', '>'], "");
                let words: Vec<&str> =
                    words.split_whitespace().map(|word| word.split('|').next().unwrap_or(word)).collect();
                // a shell and a command are not any word
                let taken = name == "completions" || Cli::command().try_get_matches_from(&words).is_ok();
                assert!(taken, "{words:?}");
            }
        }
        let usage = |name: &str| {
            let named = |sub: &Command| sub.get_bin_name() == Some(name);
            let found = all(&command).into_iter().find(named).unwrap();
            required(&found.clone().render_usage().to_string())
        };
        assert_eq!(
            usage("tailspn net query"),
            ["tailspn net query <NET> <QUERY>...", "tailspn net query <NET> --file <FILE>"]
        );
        assert_eq!(usage("tailspn study"), ["tailspn study <PLAN|LOG|NET>...", "tailspn study --print-plan"]);
        assert_eq!(usage("tailspn tool detectors"), ["tailspn tool detectors", "tailspn tool detectors --on <RUN>..."]);
    }

    #[test]
    fn short_help_fits_a_screen() {
        /// Lines of a page of short help.
        const MOST_LINES: usize = 40;
        for command in all(&fitted(Cli::command(), COLUMNS)) {
            let page = command.clone().term_width(COLUMNS).render_help().to_string();
            assert!(page.lines().count() <= MOST_LINES, "{}: {page}", command.get_name());
            assert!(page.lines().all(|line| line.chars().count() <= COLUMNS), "{page}");
        }
    }

    #[test]
    fn the_first_clause_says_what_an_option_is() {
        assert_eq!(clause("Price of machine time, such as 0.30/executor-hour"), "Price of machine time");
        assert_eq!(clause("Deadline, such as 85s or 5m, to print the probability"), "Deadline, such as 85s or 5m");
        assert_eq!(clause("Print Markdown"), "Print Markdown");
    }

    /// clap wraps the lines: text that was wrapped by hand would be wrapped twice, and a line that must stay whole must
    /// fit.
    #[test]
    fn no_text_is_wrapped_twice() {
        for command in all(&Cli::command()) {
            let text = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
            let text = text.unwrap_or_default();
            let mut lines = text.lines().peekable();
            while let Some(line) = lines.next() {
                let name = command.get_name();
                if line.starts_with(' ') {
                    assert!(line.chars().count() <= COLUMNS, "{name}: {line}");
                } else if !line.is_empty() && !line.ends_with(':') {
                    assert!(lines.peek().is_none_or(|next| next.is_empty()), "{name}: broken by hand after: {line}");
                }
            }
        }
    }
}
