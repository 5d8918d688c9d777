//! Commands for the net of the page, run in process. The initial marking is the current marking of the page, and the
//! rates are the current rates of the page.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use tailspn::net::Net;
use tailspn::report::Answer;

use crate::cli::call::Call;
use crate::cli::serve::game::{Games, Rates};
use crate::cli::serve::marked::{game_of, unmarked};
use crate::cli::serve::reply::{Refusal, Reply, Shown, Waiting, apart, json, parsed, unfinished};

/// Wall time of a command.
const MAX_TIME: &str = "--max-time=30s";
/// Memory for states. Several requests may be answered at the same time.
const MAX_MEMORY: &str = "--max-memory=1G";

/// A command of the page: its words, and its fields as options of the command. The field `QUERY` is not an option but an
/// argument.
#[derive(Debug, Serialize)]
pub(crate) struct Form {
    name: &'static str,
    title: &'static str,
    fields: &'static [Field],
    #[serde(skip)]
    words: &'static [&'static str],
}

#[derive(Debug, Serialize)]
struct Field {
    option: &'static str,
    label: &'static str,
    example: &'static str,
}

const fn field(option: &'static str, label: &'static str, example: &'static str) -> Field {
    Field { option, label, example }
}

const UNTIL: Field = field("until", "Until", "dead");

/// The commands of the page.
pub(crate) const FORMS: [Form; 6] = [
    Form {
        name: "simulate",
        title: "Simulate",
        fields: &[
            UNTIL,
            field("horizon", "Horizon in seconds", "100"),
            field("reps", "Replications", "10000"),
            field("seed", "Seed", "0"),
        ],
        words: &["simulate"],
    },
    Form {
        name: "long-run",
        title: "Simulate the long run",
        fields: &[field("seed", "Seed", "0")],
        words: &["simulate", "--steady", "--tokens", "--throughput"],
    },
    Form { name: "solve", title: "Solve", fields: &[UNTIL, field("at", "At times", "10,20")], words: &["solve"] },
    Form {
        name: "untimed",
        title: "Solve without time",
        fields: &[field("ctl", "CTL formula", "EF deadlock")],
        words: &["solve", "--untimed"],
    },
    Form {
        name: "query",
        title: "Query",
        fields: &[field("QUERY", "Query", "P=? [ F<=10 deadlock ]")],
        words: &["query"],
    },
    Form {
        name: "structure",
        title: "Structure",
        fields: &[field("only", "Parts", "invariants")],
        words: &["structure"],
    },
];

/// A request for a command of [`FORMS`], with values of its fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskRequest {
    marking: Vec<u32>,
    #[serde(default)]
    rates: Rates,
    command: String,
    #[serde(default)]
    values: BTreeMap<String, String>,
}

impl AskRequest {
    /// Returns the arguments of the command, with the name of the program.
    fn arguments(&self) -> Result<Vec<OsString>, Refusal> {
        let form = FORMS.iter().find(|form| form.name == self.command);
        let form = form.ok_or_else(|| Refusal::bad(format!("there is no command `{}`", self.command)))?;
        if let Some(unknown) = self.values.keys().find(|name| form.fields.iter().all(|field| field.option != **name)) {
            return Err(Refusal::bad(format!("`{}` has no field `{unknown}`", self.command)));
        }
        let mut words: Vec<OsString> = std::iter::once(&"tailspn").chain(form.words).map(OsString::from).collect();
        words.push(MAX_TIME.into());
        if matches!(form.words.first(), Some(&"solve" | &"query")) {
            words.push(MAX_MEMORY.into());
        }
        let values = self.values.iter().map(|(option, value)| (option.as_str(), value.trim()));
        let (free, options): (Vec<_>, Vec<_>) =
            values.filter(|(_, value)| !value.is_empty()).partition(|(option, _)| *option == "QUERY");
        // option and value are one word, so that a value is never taken for an option
        words.extend(options.iter().map(|(option, value)| format!("--{option}={value}").into()));
        words.extend(["--".into(), Call::NET.into()]);
        words.extend(free.iter().map(|(_, value)| OsString::from(value)));
        Ok(words)
    }
}

/// Runs a command; stops it once nobody waits for the answer.
pub(crate) async fn ask(State(games): State<Arc<Games>>, body: Bytes) -> Response {
    match prepared(&games, &body) {
        Err(refusal) => refusal.response(),
        Ok((net, arguments)) => {
            let call = Call::new(false, Some(net));
            let _waiting = Waiting::new(&call);
            apart(move || answer(&call, arguments)).await
        }
    }
}

/// Returns the net of a request, and the arguments of the command.
fn prepared(games: &Games, body: &[u8]) -> Result<(Net, Vec<OsString>), Refusal> {
    let request: AskRequest = parsed(body)?;
    let arguments = request.arguments()?;
    let game = game_of(games, request.rates, &request.marking)?;
    Ok((game.marked(&request.marking).map_err(|error| unmarked(&error))?, arguments))
}

fn answer(call: &Arc<Call>, arguments: Vec<OsString>) -> Reply {
    let ended = call.run(arguments);
    let output = call.take_output();
    let Some(answer) = output.answer else {
        let stopped = || Refusal::unanswerable("the command was stopped");
        return Err(ended.err().map_or_else(stopped, |(_, problems)| unfinished(&problems)));
    };
    // an incomplete result is returned with the reason
    let problems = ended.err().map_or_else(Vec::new, |(_, problems)| problems);
    let remarks = output.remarks.into_iter().chain(problems.into_iter().map(|problem| problem.message)).collect();
    json(&Shown::of(Answer { notes: Vec::new(), ..answer }, remarks)?)
}
