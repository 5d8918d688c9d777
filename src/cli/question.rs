//! Converts arguments to a question: parses expressions over the net, looks up names, and reports all problems
//! together.

use tailspn::compile::{Code, lower, lower_reward};
use tailspn::net::expr::ExprError;
use tailspn::net::{Expr, Net};
use tailspn::sim::{Condition, Goal, Group, Question, Reward, Snapshot};
use tailspn::subject::names_in_a_sentence;

use crate::cli::args::{QuestionArgs, UntilArgs};
use crate::cli::exit::Exit;
use crate::cli::notes::{Failure, Note, Source};
use crate::cli::values::fits;

/// Parses the question about a net.
pub(crate) fn ask(net: &Net, args: &QuestionArgs, steady: bool) -> Result<Question, Failure> {
    let mut parser = Parser { net, notes: Vec::new() };
    let goal = parser.goal(args);
    let mut at = args.at.clone();
    at.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    parser.times(args);
    let [from, to] = args.before.within.unwrap_or([0.0, f64::INFINITY]);
    let question = Question {
        goal,
        avoid: args.before.avoid.as_deref().and_then(|avoid| parser.condition("--avoid", avoid)),
        earliest: from,
        horizon: args.horizon.or(Some(to).filter(|to| to.is_finite())),
        warm_up: args.warm_up,
        max_firings: args.max_firings,
        tokens: args.tokens,
        throughput: args.throughput,
        groups: args.group.iter().filter_map(|(name, members)| parser.group(name, members)).collect(),
        rewards: parser.rewards(&args.reward, &args.impulse),
        snapshots: at
            .iter()
            .filter_map(|(time, text)| {
                Some(Snapshot { time: *time, value: parser.code("--at", text)?, text: text.clone() })
            })
            .collect(),
        steady,
        ..Question::default()
    };
    if !parser.notes.is_empty() {
        return Err(Failure::of_notes(Exit::Usage, parser.notes));
    }
    Ok(question)
}

/// Returns a problem for every value of an option with the name of an earlier one.
pub(crate) fn same_names<'a>(option: &'a str, named: &'a [(String, String)]) -> impl Iterator<Item = Note> + 'a {
    let again =
        move |&(i, (name, _)): &(usize, &(String, String))| named[..i].iter().any(|(earlier, _)| earlier == name);
    named.iter().enumerate().filter(again).map(move |(_, (name, _))| {
        let message = format!("two values of --{option} have the name `{name}`");
        Note::problem(message).with_help("use a unique name for each")
    })
}

/// Parses and lowers an expression over a net, the value of an option.
pub(crate) fn expression(net: &Net, option: &str, text: &str) -> Result<Code, Failure> {
    let mut parser = Parser { net, notes: Vec::new() };
    let code = parser.code(option, text);
    code.ok_or(Failure::of_notes(Exit::Usage, parser.notes))
}

/// Parses the markings in which an expression holds, the value of an option.
pub(crate) fn condition(net: &Net, option: &str, text: &str) -> Result<Condition, Failure> {
    Ok(Condition { code: expression(net, option, text)?, text: text.to_owned() })
}

/// Rewards of the arguments `--reward` and `--impulse`.
pub(crate) fn rewards(
    net: &Net,
    rates: &[(String, String)],
    impulses: &[(String, String)],
) -> Result<Vec<Reward>, Failure> {
    let mut parser = Parser { net, notes: Vec::new() };
    let rewards = parser.rewards(rates, impulses);
    if parser.notes.is_empty() { Ok(rewards) } else { Err(Failure::of_notes(Exit::Usage, parser.notes)) }
}

/// Returns a problem if the goal is a dead marking that counts only from some time on: a dead net stays dead.
pub(crate) fn late_dead_marking(args: &UntilArgs) -> Option<Note> {
    args.within.filter(|[from, _]| *from > 0.0)?;
    let note = Note::problem("`--until dead` does not allow a first time in --within: a net that is dead stays dead");
    Some(note.with_help("use --within with a last time only, such as --within 10"))
}

/// Lists the available names after an error about an unknown name.
pub(crate) fn known_names(net: &Net, error: &ExprError) -> Option<String> {
    let names: Vec<&str> = match error {
        ExprError::UnknownPlace { .. } => net.places().iter().map(|place| place.id.as_str()).collect(),
        ExprError::UnknownClass { .. } => net.classes().iter().map(|class| class.id.as_str()).collect(),
        ExprError::UnknownParameter { .. } => net.parameters().iter().map(|p| p.name.as_str()).collect(),
        _ => return None,
    };
    Some(names_in_a_sentence(&names))
}

/// Returns true if the question asks for averages, which continue after the net is dead.
fn wants_averages(args: &QuestionArgs) -> bool {
    args.tokens || args.throughput || !args.reward.is_empty() || !args.impulse.is_empty() || !args.at.is_empty()
}

/// Looks up names in a net and collects errors.
struct Parser<'a> {
    net: &'a Net,
    notes: Vec<Note>,
}

impl Parser<'_> {
    fn condition(&mut self, option: &str, text: &str) -> Option<Condition> {
        Some(Condition { code: self.code(option, text)?, text: text.to_owned() })
    }

    fn code(&mut self, option: &str, text: &str) -> Option<Code> {
        self.expression(option, text).map(|expression| lower(self.net, &expression))
    }

    fn expression(&mut self, option: &str, text: &str) -> Option<Expr> {
        match self.net.expression(text) {
            Ok(expression) => Some(expression),
            Err(error) => {
                let source = Source::argument(option, text);
                let note = Note::problem(error.to_string()).at(&source, error.span());
                self.notes.push(match known_names(self.net, &error) {
                    Some(help) => note.with_help(help),
                    None => note,
                });
                None
            }
        }
    }

    fn goal(&mut self, args: &QuestionArgs) -> Goal {
        match args.until.as_deref() {
            Some("dead") => {
                self.notes.extend(late_dead_marking(&args.before));
                Goal::Dead
            }
            Some("horizon") => {
                if args.horizon.is_none() {
                    self.notes.push(Note::problem("`--until horizon` needs a horizon").with_help("add --horizon T"));
                }
                if args.before.avoid.is_some() || args.before.within.is_some() {
                    let note = Note::problem("`--until horizon` has no goal, so --avoid and --within do not apply");
                    self.notes.push(note.with_help("--avoid and --within need --until EXPR or --until dead"));
                }
                Goal::Horizon
            }
            Some(text) => self.condition("--until", text).map_or(Goal::Dead, Goal::Marking),
            None if args.horizon.is_some() && wants_averages(args) => Goal::Horizon,
            None => Goal::Dead,
        }
    }

    /// Reports times that leave no observations, and duplicate names of results.
    fn times(&mut self, args: &QuestionArgs) {
        if let Some(horizon) = args.horizon {
            if args.warm_up > 0.0 && args.warm_up >= horizon {
                let message =
                    format!("the warm-up of {} s is not shorter than the horizon of {horizon} s", args.warm_up);
                self.notes.push(Note::problem(message).with_help("set --horizon above --warm-up"));
            }
            for (time, text) in args.at.iter().filter(|(time, _)| *time > horizon) {
                let message = format!("`--at {time}:{text}` is beyond the horizon of {horizon} s");
                self.notes.push(Note::problem(message).with_help("increase --horizon"));
            }
        }
        self.notes.extend(same_names("reward", &args.reward).chain(same_names("group", &args.group)));
    }

    /// Returns the transition with this id; if there is none, the transitions that match it as a pattern.
    fn transitions(&self, member: &str) -> Vec<u32> {
        match self.net.find_transition(member).and_then(|id| u32::try_from(id.index()).ok()) {
            Some(id) => vec![id],
            None => (0..).zip(self.net.transitions()).filter(|(_, t)| fits(member, &t.id)).map(|(i, _)| i).collect(),
        }
    }

    fn group(&mut self, name: &str, members: &str) -> Option<Group> {
        let mut transitions = Vec::new();
        for member in members.split(',').map(str::trim).filter(|member| !member.is_empty()) {
            let found = self.transitions(member);
            if found.is_empty() {
                let note = Note::problem(format!("`--group {name}`: no transition matches `{member}`"));
                self.notes.push(note.with_help("`*` stands for any text and `?` for any character"));
            }
            transitions.extend(found);
        }
        transitions.sort_unstable();
        transitions.dedup();
        (!transitions.is_empty()).then(|| Group { name: name.to_owned(), transitions })
    }

    fn rewards(&mut self, rates: &[(String, String)], impulses: &[(String, String)]) -> Vec<Reward> {
        let mut rewards: Vec<Reward> = Vec::new();
        for (name, text) in rates {
            let rate = self.expression("--reward", text).map(|expression| lower_reward(self.net, &expression));
            rewards.push(Reward { name: name.clone(), rate, impulses: Vec::new() });
        }
        for (name, text) in impulses {
            let impulses = self.impulses(name, text);
            match rewards.iter_mut().find(|reward| reward.name == *name) {
                Some(reward) => reward.impulses.extend(impulses),
                None => rewards.push(Reward { name: name.clone(), rate: None, impulses }),
            }
        }
        rewards
    }

    /// Parses `TRANSITION:EXPRESSION`, in which TRANSITION is a pattern or an id, which may contain colons.
    fn impulses(&mut self, name: &str, text: &str) -> Vec<(u32, Code)> {
        let splits = text.match_indices(':').map(|(at, _)| (&text[..at], &text[at + 1..]));
        let mut found = splits.map(|(member, expression)| (self.transitions(member.trim()), expression));
        let Some((transitions, expression)) = found.rfind(|(transitions, _)| !transitions.is_empty()) else {
            let note = Note::problem(format!("`--impulse {name}={text}` matches no transition of the net"));
            let help = "write NAME=TRANSITION:EXPRESSION, such as cost=repair:2; `*` stands for any text";
            self.notes.push(note.with_help(help));
            return Vec::new();
        };
        let code = self.code("--impulse", expression.trim());
        code.map_or_else(Vec::new, |code| transitions.into_iter().map(|t| (t, code.clone())).collect())
    }
}
