//! Requests of the page of a net.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};
use tailspn::net::BuildError;
use tailspn::semantics::Fault;

use crate::cli::serve::game::{Game, Move, When};
use crate::cli::serve::reply::{Refusal, Reply, apart, json, parsed};

/// A question about a marking.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Marked {
    marking: Vec<u32>,
}

/// A firing in a marking.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FireRequest {
    marking: Vec<u32>,
    transition: String,
}

/// A random step in a marking.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepRequest {
    marking: Vec<u32>,
    seed: u64,
    step: u32,
}

/// A part of the net, and for a transition its kind.
#[derive(Serialize)]
struct Part<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    immediate: Option<bool>,
}

/// The net, and its initial marking.
#[derive(Serialize)]
struct Start<'a> {
    name: &'a str,
    classes: &'a [String],
    places: Vec<Part<'a>>,
    transitions: Vec<Part<'a>>,
    view: View<'a>,
}

/// A marking, the transitions that can fire, and the picture.
#[derive(Serialize)]
struct View<'a> {
    marking: &'a [u32],
    moves: Vec<MoveRow<'a>>,
    picture: Option<String>,
}

#[derive(Serialize)]
struct MoveRow<'a> {
    transition: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    probability: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_per_s: Option<f64>,
}

/// The marking after a firing; no transition if none could fire.
#[derive(Serialize)]
struct Fired<'a> {
    transition: Option<&'a str>,
    delay_s: Option<f64>,
    view: View<'a>,
}

/// The net as PIPE XML, and what PIPE loads differently.
#[derive(Serialize)]
struct PipeFile {
    xml: String,
    warnings: Vec<String>,
}

/// The addresses of requests.
pub(crate) fn routes(game: Arc<Game>) -> Router {
    type Shared = State<Arc<Game>>;
    Router::new()
        .route("/net/start", get(|State(game): Shared| apart(move || start(&game))))
        .route("/net/view", post(|State(game): Shared, body: Bytes| apart(move || view(&game, &body))))
        .route("/net/fire", post(|State(game): Shared, body: Bytes| apart(move || fire(&game, &body))))
        .route("/net/step", post(|State(game): Shared, body: Bytes| apart(move || step(&game, &body))))
        .route("/net/pipe", post(|State(game): Shared, body: Bytes| apart(move || pipe(&game, &body))))
        .with_state(game)
}

fn start(game: &Game) -> Reply {
    let net = game.net();
    let transition = |(t, id)| Part { id, immediate: Some(game.program().is_immediate(t)) };
    json(&Start {
        name: net.name(),
        classes: &game.program().class_names,
        places: game.program().place_names.iter().map(|id| Part { id, immediate: None }).collect(),
        transitions: game.program().transition_names.iter().map(String::as_str).enumerate().map(transition).collect(),
        view: view_of(game, &game.program().initial)?,
    })
}

fn view(game: &Game, body: &[u8]) -> Reply {
    let Marked { marking } = parsed(body)?;
    check(game, &marking)?;
    json(&view_of(game, &marking)?)
}

/// Fires a transition that the page names.
fn fire(game: &Game, body: &[u8]) -> Reply {
    let FireRequest { marking, transition } = parsed(body)?;
    check(game, &marking)?;
    let names = &game.program().transition_names;
    let moves = game.moves(&marking).map_err(|fault| faulty(&fault))?;
    if !names.contains(&transition) {
        return Err(Refusal::bad(format!("there is no transition `{transition}`")));
    }
    let Some(chosen) = moves.iter().find(|one| names[one.transition as usize] == transition) else {
        let message = format!("`{transition}` cannot fire in this marking");
        return Err(Refusal::new(StatusCode::CONFLICT, message));
    };
    let after = game.fired(chosen.transition, &marking).map_err(|fault| faulty(&fault))?;
    json(&Fired { transition: Some(&transition), delay_s: None, view: view_of(game, &after)? })
}

/// Fires a random transition.
fn step(game: &Game, body: &[u8]) -> Reply {
    let StepRequest { marking, seed, step } = parsed(body)?;
    check(game, &marking)?;
    let Some(step) = game.step(&marking, seed, step).map_err(|fault| faulty(&fault))? else {
        return json(&Fired { transition: None, delay_s: None, view: view_of(game, &marking)? });
    };
    let after = game.fired(step.transition, &marking).map_err(|fault| faulty(&fault))?;
    let transition = Some(&*game.program().transition_names[step.transition as usize]);
    json(&Fired { transition, delay_s: Some(step.delay_s), view: view_of(game, &after)? })
}

fn pipe(game: &Game, body: &[u8]) -> Reply {
    let Marked { marking } = parsed(body)?;
    check(game, &marking)?;
    let written = game.pipe(&marking).map_err(|error| unmarked(&error))?;
    let warnings = written.warnings.into_iter().map(|warning| warning.message).collect();
    json(&PipeFile { xml: written.xml, warnings })
}

fn check(game: &Game, marking: &[u32]) -> Result<(), Refusal> {
    game.fault_of(marking).map_or(Ok(()), |fault| Err(Refusal::bad(fault)))
}

fn view_of<'a>(game: &'a Game, marking: &'a [u32]) -> Result<View<'a>, Refusal> {
    let moves = game.moves(marking).map_err(|fault| faulty(&fault))?;
    let moves = moves.iter().map(|one| move_row(game, one)).collect();
    let picture = game.picture(marking).map_err(|error| unmarked(&error))?;
    Ok(View { marking, moves, picture })
}

fn move_row<'a>(game: &'a Game, one: &Move) -> MoveRow<'a> {
    let transition = &game.program().transition_names[one.transition as usize];
    let (probability, rate_per_s) = match one.when {
        When::AtOnce { probability } => (Some(probability), None),
        When::Exponential { rate_per_s } => (None, Some(rate_per_s)),
        When::General { .. } => (None, None),
    };
    MoveRow { transition, probability, rate_per_s }
}

fn faulty(fault: &Fault) -> Refusal {
    Refusal::unanswerable(fault.to_string())
}

fn unmarked(error: &BuildError) -> Refusal {
    Refusal::unanswerable(format!("the net cannot have this marking: {error}"))
}
