//! The help of the whole tool: its commands, grouped by task.

use std::fmt::Write;

use clap::Command;
use clap::builder::Styles;

/// The end of the short help.
pub(crate) const MORE: &str = "`tailspn COMMAND --help` shows the options and examples of a command.";

/// Every command, by task.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Nets", &["check", "convert", "structure", "simulate", "solve", "query", "rare", "spn-gc"]),
    ("Jobs", &["estimate", "whatif", "remaining"]),
    ("Logs", &["trace", "fit", "compare", "diagnose", "syscalls", "detectors", "watch"]),
    ("Studies", &["sweep", "merge", "sensitivity", "optimize"]),
    ("Tools", &["report", "serve", "devices", "bench", "setup", "completions", "man", "help"]),
];

/// The command, with help text that groups its subcommands.
pub(crate) fn grouped(command: Command) -> Command {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let about = |name: &str| match command.find_subcommand(name) {
        Some(found) => found.get_about().map(ToString::to_string),
        None => (name == "help").then(|| "Show the help of a command".to_owned()),
    };
    let mut groups = String::new();
    for (group, names) in GROUPS {
        let _ = writeln!(groups, "{header}{group}:{header:#}");
        for (name, about) in names.iter().filter_map(|name| Some((name, about(name)?))) {
            let _ = writeln!(groups, "  {literal}{name:<11}{literal:#}  {about}");
        }
        groups.push('\n');
    }
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{header}Options:{header:#}\n{{options}}{{after-help}}"
    ))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::args::Cli;

    /// Columns of a small terminal.
    const COLUMNS: usize = 80;

    fn all(command: &Command) -> Vec<Command> {
        let below = command.get_subcommands().flat_map(all);
        std::iter::once(command.clone()).chain(below).collect()
    }

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.retain(|name| *name != "help");
        grouped.sort_unstable();
        let command = Cli::command();
        let mut names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        names.sort_unstable();
        assert!(names.iter().all(|name| grouped.contains(name)), "{names:?}");
        let unique: std::collections::BTreeSet<_> = grouped.iter().collect();
        assert_eq!(unique.len(), grouped.len());
    }

    #[test]
    fn the_page_of_commands_has_the_same_groups() {
        let page = include_str!("../../../docs/commands.md");
        for (group, names) in GROUPS {
            let section = page.split("\n## ").find(|section| section.starts_with(group)).unwrap_or_default();
            for name in names.iter().filter(|name| **name != "help") {
                assert!(
                    section.contains(&format!("`tailspn {name}")),
                    "{name} is not below {group} of docs/commands.md"
                );
            }
        }
    }

    #[test]
    fn summaries_fit_a_small_terminal() {
        let rendered = grouped(Cli::command()).term_width(COLUMNS).render_long_help().to_string();
        for line in rendered.lines() {
            assert!(line.chars().count() <= COLUMNS, "{line}");
        }
    }

    /// clap breaks the lines: text that was broken by hand would be broken twice, and a line that must stay whole has
    /// to fit.
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

    #[test]
    fn every_command_has_an_example() {
        for command in Cli::command().get_subcommands() {
            let text = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            let example = format!("    tailspn {}", command.get_name());
            assert!(text.lines().any(|line| line.starts_with(&example)), "{}", command.get_name());
        }
    }
}
