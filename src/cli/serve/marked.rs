//! The game of a request: with the rates and the marking of the request.

use std::sync::Arc;

use tailspn::net::BuildError;

use crate::cli::serve::game::{Game, Games, Rates};
use crate::cli::serve::reply::Refusal;

/// Returns the game with these rates; refuses a marking that the net cannot have.
pub(crate) fn game_of(games: &Games, rates: Rates, marking: &[u32]) -> Result<Arc<Game>, Refusal> {
    let game = games.with(rates).map_err(Refusal::unanswerable)?;
    game.fault_of(marking).map_or(Ok(game), |fault| Err(Refusal::bad(fault)))
}

/// Returns the refusal of a marking that the net cannot have.
pub(crate) fn unmarked(error: &BuildError) -> Refusal {
    Refusal::unanswerable(format!("the net cannot have this marking: {error}"))
}
