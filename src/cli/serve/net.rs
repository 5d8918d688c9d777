//! Requests of the page of a net: the token game, runs of the simulator, and the file with the current marking and
//! rates.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};
use tailspn::net::Transition;
use tailspn::semantics::Fault;
use tailspn::sim::Ending;

use crate::cli::serve::ask::{FORMS, Form, ask};
use crate::cli::serve::game::{Change, Game, Games, Move, Rates, Stuck, When};
use crate::cli::serve::marked::{game_of, unmarked};
use crate::cli::serve::reply::{Refusal, Reply, apart, json, parsed};

/// Maximum number of firings of a recorded run.
const MOST_FIRINGS: usize = 5_000;

/// A request for the start of the page. By default, the marking of the file is shown.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct StartRequest {
    marking: Option<Vec<u32>>,
    rates: Rates,
}

/// A request about a marking.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Marked {
    pub(crate) marking: Vec<u32>,
    #[serde(default)]
    pub(crate) rates: Rates,
}

/// Firings from a marking, one after the other.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FireRequest {
    marking: Vec<u32>,
    #[serde(default)]
    rates: Rates,
    transitions: Vec<String>,
}

/// A replication of the simulator from a marking.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunRequest {
    marking: Vec<u32>,
    #[serde(default)]
    rates: Rates,
    seed: u64,
    replication: u64,
    firings: Option<usize>,
    until: Option<String>,
}

#[derive(Serialize)]
struct Class<'a> {
    id: &'a str,
    colour: [u8; 3],
}

/// A transition. The rate or weight is an expression; `None` for other distributions.
#[derive(Serialize)]
struct TransitionRow<'a> {
    id: &'a str,
    title: String,
    immediate: bool,
    rate: Option<String>,
}

/// The label of a part in the picture, with its id if that differs.
fn title(id: &str, name: &str) -> String {
    if name.is_empty() { id.to_owned() } else { format!("{name} ({id})") }
}

/// The net, its initial marking, and its picture without tokens.
#[derive(Serialize)]
struct Start<'a> {
    name: &'a str,
    classes: Vec<Class<'a>>,
    /// Titles of the places.
    places: Vec<String>,
    transitions: Vec<TransitionRow<'a>>,
    picture: Option<String>,
    view: View<'a>,
    forms: &'a [Form],
}

/// A marking, and the transitions that can fire.
#[derive(Serialize)]
struct View<'a> {
    marking: &'a [u32],
    moves: Vec<MoveRow<'a>>,
}

#[derive(Serialize)]
struct MoveRow<'a> {
    transition: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_per_s: Option<f64>,
}

/// Firings, and the marking after them.
#[derive(Serialize)]
struct Fired<'a> {
    steps: Vec<Step<'a>>,
    view: View<'a>,
    /// The reason why the run ended: `goal`, `dead` or `firings`.
    ending: Option<&'static str>,
    /// Model time from the start of the run to its end.
    end_s: Option<f64>,
}

/// A firing, and the changes that it makes.
#[derive(Serialize)]
struct Step<'a> {
    transition: &'a str,
    /// Model time since the start of the run.
    time_s: Option<f64>,
    /// Counter of the marking, tokens before, tokens after.
    tokens: Vec<(usize, u32, u32)>,
    /// Numbers of the transitions that became enabled or disabled by the firing.
    toggled: Vec<u32>,
}

/// The net as PIPE XML, with warnings about parts that PIPE loads differently.
#[derive(Serialize)]
struct PipeFile {
    xml: String,
    warnings: Vec<String>,
}

/// Returns the routes of the requests for a net.
pub(crate) fn routes(games: Arc<Games>) -> Router {
    type Shared = State<Arc<Games>>;
    Router::new()
        .route("/net/start", get(|State(games): Shared| apart(move || start(&games, b"{}"))))
        .route("/net/start", post(|State(games): Shared, body: Bytes| apart(move || start(&games, &body))))
        .route("/net/view", post(|State(games): Shared, body: Bytes| apart(move || view(&games, &body))))
        .route("/net/fire", post(|State(games): Shared, body: Bytes| apart(move || fire(&games, &body))))
        .route("/net/run", post(|State(games): Shared, body: Bytes| apart(move || run(&games, &body))))
        .route("/net/pipe", post(|State(games): Shared, body: Bytes| apart(move || pipe(&games, &body))))
        .route("/net/ask", post(ask))
        .with_state(games)
}

fn start(games: &Games, body: &[u8]) -> Reply {
    let StartRequest { marking, rates } = parsed(body)?;
    let marking = marking.unwrap_or_else(|| games.original.program().initial.clone());
    let game = game_of(games, rates, &marking)?;
    let (net, program) = (game.net(), game.program());
    let row = |(t, of): (usize, &'_ Transition)| TransitionRow {
        id: &program.transition_names[t],
        title: title(&of.id, &of.name),
        immediate: program.is_immediate(t),
        rate: game.rate_text(t),
    };
    json(&Start {
        name: if net.name().is_empty() { &games.file } else { net.name() },
        classes: net.classes().iter().map(|class| Class { id: &class.id, colour: class.colour }).collect(),
        places: net.places().iter().map(|place| title(&place.id, &place.name)).collect(),
        transitions: net.transitions().iter().enumerate().map(row).collect(),
        picture: game.picture().map_err(|error| unmarked(&error))?,
        view: view_of(&game, &marking)?,
        forms: &FORMS,
    })
}

fn view(games: &Games, body: &[u8]) -> Reply {
    let Marked { marking, rates } = parsed(body)?;
    json(&view_of(&*game_of(games, rates, &marking)?, &marking)?)
}

/// Fires transitions that the page names.
fn fire(games: &Games, body: &[u8]) -> Reply {
    let FireRequest { marking, rates, transitions } = parsed(body)?;
    let game = game_of(games, rates, &marking)?;
    let names = &game.program().transition_names;
    let number = |id: &String| {
        let unknown = || Refusal::bad(format!("there is no transition `{id}`"));
        names.iter().position(|name| name == id).map(|t| (t as u32, None)).ok_or_else(unknown)
    };
    let firings: Vec<_> = transitions.iter().map(number).collect::<Result<_, _>>()?;
    fired(&game, marking, &firings, None, None)
}

/// Fires the transitions that the simulator fires in a replication.
fn run(games: &Games, body: &[u8]) -> Reply {
    let RunRequest { marking, rates, seed, replication, firings, until } = parsed(body)?;
    let game = game_of(games, rates, &marking)?;
    let most = firings.unwrap_or(MOST_FIRINGS).min(MOST_FIRINGS);
    let until = until.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let found = game.run(&marking, until, [seed, replication], most).map_err(Refusal::unanswerable)?;
    let ending = match found.ending {
        Some(Ending::Dead) => Some("dead"),
        Some(Ending::Goal) => Some(if until.is_some() { "goal" } else { "dead" }),
        Some(Ending::Firings) => Some("firings"),
        _ => None,
    };
    let firings: Vec<_> = found.firings.iter().map(|&(t, time_s)| (t, Some(time_s))).collect();
    fired(&game, marking, &firings, ending, Some(found.end_s))
}

fn fired(
    game: &Game,
    mut marking: Vec<u32>,
    firings: &[(u32, Option<f64>)],
    ending: Option<&'static str>,
    end_s: Option<f64>,
) -> Reply {
    let names = &game.program().transition_names;
    let changes = game.follow(&mut marking, firings.iter().map(|(t, _)| *t)).map_err(|stuck| match stuck {
        Stuck::Fault(fault) => faulty(&fault),
        Stuck::CannotFire(t) => {
            let message = format!("`{}` cannot fire in this marking", &names[t as usize]);
            Refusal::new(StatusCode::CONFLICT, message)
        }
    })?;
    let step = |(change, &(t, time_s)): (Change, &(u32, Option<f64>))| Step {
        transition: &names[t as usize],
        time_s,
        tokens: change.tokens,
        toggled: change.toggled,
    };
    let steps = changes.into_iter().zip(firings).map(step).collect();
    json(&Fired { steps, view: view_of(game, &marking)?, ending, end_s })
}

fn pipe(games: &Games, body: &[u8]) -> Reply {
    let Marked { marking, rates } = parsed(body)?;
    let written = game_of(games, rates, &marking)?.pipe(&marking).map_err(|error| unmarked(&error))?;
    let warnings = written.warnings.into_iter().map(|warning| warning.message).collect();
    json(&PipeFile { xml: written.xml, warnings })
}

fn view_of<'a>(game: &'a Game, marking: &'a [u32]) -> Result<View<'a>, Refusal> {
    let moves = game.moves(marking).map_err(|fault| faulty(&fault))?;
    Ok(View { marking, moves: moves.iter().map(|one| move_row(game, one)).collect() })
}

fn move_row<'a>(game: &'a Game, one: &Move) -> MoveRow<'a> {
    let transition = &game.program().transition_names[one.transition as usize];
    let (probability, rate_per_s) = match one.when {
        When::AtOnce { probability } => (Some(probability), None),
        When::Exponential { rate_per_s } => (None, Some(rate_per_s)),
        When::General => (None, None),
    };
    MoveRow { transition, probability, rate_per_s }
}

fn faulty(fault: &Fault) -> Refusal {
    Refusal::unanswerable(fault.to_string())
}
