//! The game of a request: its rates, and the marking that it names.

use std::sync::Arc;

use tailspn::net::BuildError;

use crate::cli::serve::game::{Game, Games, Rates};
use crate::cli::serve::reply::Refusal;

/// The game with these rates, in which the marking is possible.
pub(crate) fn game_of(games: &Games, rates: Rates, marking: &[u32]) -> Result<Arc<Game>, Refusal> {
    let game = games.with(rates).map_err(Refusal::unanswerable)?;
    game.fault_of(marking).map_or(Ok(game), |fault| Err(Refusal::bad(fault)))
}

/// The answer to a marking that the net cannot have.
pub(crate) fn unmarked(error: &BuildError) -> Refusal {
    Refusal::unanswerable(format!("the net cannot have this marking: {error}"))
}
