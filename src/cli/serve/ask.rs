//! Questions about the net of the page. The initial marking is the current marking of the page, and the
//! rates are the current rates of the page.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use clap::ValueEnum as _;
use serde::{Deserialize, Serialize};
use tailspn::net::Net;

use crate::cli::args::{QueryArgs, SimulateArgs, SolveArgs, StructureArgs, StructurePart, with_defaults};
use crate::cli::call::Call;
use crate::cli::frame::Ask;
use crate::cli::input::Input;
use crate::cli::serve::game::{Games, Rates};
use crate::cli::serve::marked::{game_of, unmarked};
use crate::cli::serve::reply::{Refusal, Reply, Shown, Waiting, apart, json, parsed, unfinished};
use crate::cli::values;

/// Wall time of an answer.
pub(crate) const MAX_TIME: Duration = Duration::from_secs(30);
/// Memory of the states of an answer, and of its other numbers \[bytes\]: together below 2 GB, since several requests may be
/// answered at the same time.
pub(crate) const MAX_MEMORY: u64 = 768 << 20;
/// Maximum memory of a place or a transition in a row of the search for invariants \[bytes\]: a number and its position, with room for
/// as many again.
const BYTES_OF_A_NODE: u64 = 64;
/// Maximum number of values in a field: each time has a table of all places.
const MOST_VALUES: usize = 100;

/// A question of the page, and its fields.
#[derive(Debug, Serialize)]
pub(crate) struct Form {
    name: &'static str,
    title: &'static str,
    fields: &'static [Field],
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

/// The questions of the page.
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
    },
    Form { name: "long-run", title: "Simulate the long run", fields: &[field("seed", "Seed", "0")] },
    Form { name: "solve", title: "Solve", fields: &[UNTIL, field("at", "At times", "10,20")] },
    Form { name: "untimed", title: "Solve without time", fields: &[field("ctl", "CTL formula", "EF deadlock")] },
    Form { name: "query", title: "Query", fields: &[field("QUERY", "Query", "P=? [ F<=10 deadlock ]")] },
    Form { name: "structure", title: "Structure", fields: &[field("only", "Parts", "invariants")] },
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

/// The parser of a field; an error is the reason of a refusal.
type Parse<T> = fn(&str) -> Result<T, String>;

fn parsed_field<T>(name: &str, text: &str, parse: Parse<T>) -> Result<T, Refusal> {
    parse(text).map_err(|error| Refusal::unanswerable(format!("`{text}` for `{name}`: {error}")))
}

impl AskRequest {
    /// Returns the text of a field; none if it is empty.
    fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(|text| text.trim()).filter(|text| !text.is_empty())
    }

    /// Returns the value of a field; none if it is empty.
    fn value<T>(&self, name: &str, parse: Parse<T>) -> Result<Option<T>, Refusal> {
        self.text(name).map(|text| parsed_field(name, text, parse)).transpose()
    }

    /// Returns the values of a field with commas between them.
    fn list<T>(&self, name: &str, parse: Parse<T>) -> Result<Vec<T>, Refusal> {
        let parts: Vec<&str> = self.text(name).into_iter().flat_map(|text| text.split(',')).map(str::trim).collect();
        if parts.len() > MOST_VALUES {
            let message = format!("`{name}` has {} values, more than {MOST_VALUES}", parts.len());
            return Err(Refusal::unanswerable(message));
        }
        parts.into_iter().map(|text| parsed_field(name, text, parse)).collect()
    }

    /// Refuses questions and fields that the page does not have.
    fn check(&self) -> Result<(), Refusal> {
        let form = FORMS.iter().find(|form| form.name == self.command);
        let form = form.ok_or_else(|| Refusal::bad(format!("there is no command `{}`", self.command)))?;
        match self.values.keys().find(|name| form.fields.iter().all(|field| field.option != **name)) {
            Some(unknown) => Err(Refusal::bad(format!("`{}` has no field `{unknown}`", self.command))),
            None => Ok(()),
        }
    }

    /// Returns the question about a net, with limits of time and memory: several requests may be answered at the same time.
    fn question(&self, net: Net) -> Result<Box<dyn Ask + Send>, Refusal> {
        self.check()?;
        let net_file = OsStr::new("net");
        Ok(match &*self.command {
            "simulate" | "long-run" => {
                let mut args: SimulateArgs = with_defaults(&[net_file]);
                args.net.net = Input::net(net);
                args.question.until = self.text("until").map(str::to_owned);
                args.question.horizon = self.value("horizon", values::seconds)?;
                args.reps = self.value("reps", values::positive_count)?;
                args.run.seed = self.value("seed", values::count)?;
                args.run.max_time = Some(MAX_TIME);
                args.steady = self.command == "long-run";
                (args.question.tokens, args.question.throughput) = (args.steady, args.steady);
                Box::new(args)
            }
            "solve" | "untimed" => {
                let mut args: SolveArgs = with_defaults(&[net_file]);
                args.net.net = Input::net(net);
                args.until = self.text("until").map(str::to_owned);
                args.at = self.list("at", values::seconds)?;
                args.untimed = self.command == "untimed";
                args.ctl = self.text("ctl").map(str::to_owned).into_iter().collect();
                (args.max_time, args.max_memory) = (Some(MAX_TIME), Some(MAX_MEMORY));
                Box::new(args)
            }
            "query" => {
                let query = self.text("QUERY").ok_or_else(|| Refusal::bad("write a query"))?;
                let mut args: QueryArgs = with_defaults(&[net_file, OsStr::new("query")]);
                (args.net.net, args.query) = (Input::net(net), vec![query.to_owned()]);
                (args.max_time, args.max_memory) = (Some(MAX_TIME), Some(MAX_MEMORY));
                Box::new(args)
            }
            _ => {
                let mut args: StructureArgs = with_defaults(&[net_file]);
                let nodes = (net.places().len() + net.transitions().len()) as u64;
                args.max_rows = args.max_rows.min(MAX_MEMORY / (BYTES_OF_A_NODE * nodes.max(1)));
                args.net.net = Input::net(net);
                args.only = self.list("only", |text| StructurePart::from_str(text, false))?;
                args.max_time = MAX_TIME;
                Box::new(args)
            }
        })
    }
}

/// Answers a question; stops the work once nobody waits for the answer.
pub(crate) async fn ask(State(games): State<Arc<Games>>, body: Bytes) -> Response {
    match prepared(&games, &body) {
        Err(refusal) => refusal.response(),
        Ok(question) => {
            let call = Call::new(false);
            let _waiting = Waiting::new(&call);
            apart(move || answer(&call, &*question)).await
        }
    }
}

/// Returns the question of a request about the marked net.
fn prepared(games: &Games, body: &[u8]) -> Result<Box<dyn Ask + Send>, Refusal> {
    let request: AskRequest = parsed(body)?;
    request.check()?;
    let game = game_of(games, request.rates.clone(), &request.marking)?;
    request.question(game.marked(&request.marking).map_err(|error| unmarked(&error))?)
}

fn answer(call: &Arc<Call>, question: &dyn Ask) -> Reply {
    let (mut answer, problems) = call.ask(question).map_err(|(_, problems)| unfinished(&problems))?;
    // an incomplete result is returned with the reason
    answer.notes.extend(problems.into_iter().map(|problem| problem.message));
    json(&Shown::of(answer)?)
}
