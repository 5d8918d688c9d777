//! The nets of `tool bench`: two jobs, in which every transition fires once, and a manufacturing system that runs forever.

use tailspn::compile::{Program, compile};
use tailspn::mapreduce::{Plan, job_net, phase_times};
use tailspn::net::{Net, NetBuilder, PlaceId, Timing};
use tailspn::sim::{Goal, Question};

/// Mean times of the nine phases of the jobs \[s\].
const PHASE_MEANS_S: [f64; 9] = [5.0, 1.0, 2.0, 8.0, 1.0, 3.0, 6.0, 2.0, 7.0];
/// Kanban cards of each cell of the manufacturing system.
const CARDS: u32 = 10;
/// Model time of a replication \[s\].
const HORIZON_S: f64 = 1_000.0;
/// Rates at which each cell spoils a part, and finishes a part \[1/s\].
const CELLS: [(f64, f64); 4] = [(0.36, 0.84), (0.42, 0.98), (0.39, 0.91), (0.33, 0.77)];

/// A net and its question.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) program: Program,
    pub(crate) question: Question,
}

/// Returns all nets. An error would be a bug.
pub(crate) fn cases() -> Result<Vec<Case>, String> {
    let horizon = Question { goal: Goal::Horizon, horizon: Some(HORIZON_S), ..Question::default() };
    Ok(vec![job(160, 40)?, job(1000, 100)?, case("fms 10".to_owned(), &manufacturing(CARDS)?, horizon)?])
}

fn case(name: String, net: &Net, question: Question) -> Result<Case, String> {
    let program = compile(net).map_err(|errors| format!("{errors:?}"))?;
    Ok(Case { name, program, question })
}

/// Returns the SPN-GC net of a job with `maps` and `reduces` tasks (M and R), which has 5M + 2R + 2 transitions.
fn job(maps: u64, reduces: u64) -> Result<Case, String> {
    let text =
        format!("[phases]\nmeans_s = {PHASE_MEANS_S:?}\nmaps = {maps}\nreduces = {reduces}\n[model]\nslots = false\n");
    let plan = Plan::from_toml(&text).map_err(|error| error.to_string())?;
    let phases = phase_times(&plan, &mut || 0.5).map_err(|error| error.to_string())?;
    let job = job_net(&plan, &phases).map_err(|error| error.to_string())?;
    case(format!("job {maps}/{reduces}"), &job.net, Question::default())
}

/// Returns a Kanban system of four cells with `cards` cards each: 16 exponential transitions.
fn manufacturing(cards: u32) -> Result<Net, String> {
    let mut b = NetBuilder::new("fms");
    let mut cells = Vec::new();
    for i in 1..=CELLS.len() {
        let tokens = |kind: &str| if kind == "free" { cards } else { 0 };
        cells.push(["free", "work", "spoilt", "ready"].map(|kind| b.place(format!("{kind}{i}"), tokens(kind))));
    }
    let mut timed = |name: String, rate: f64, inputs: &[PlaceId], outputs: &[PlaceId]| {
        let t = b.transition(name, Timing::exponential(rate));
        for &place in inputs {
            b.input(place, t, 1.0);
        }
        for &place in outputs {
            b.output(t, place, 1.0);
        }
    };
    let [one, two, three, four] = [cells[0], cells[1], cells[2], cells[3]];
    timed("in1".to_owned(), 1.0, &[one[0]], &[one[1]]);
    for (i, (&[_, work, spoilt, ready], (spoil, finish))) in (1..).zip(cells.iter().zip(CELLS)) {
        timed(format!("redo{i}"), spoil, &[work], &[spoilt]);
        timed(format!("ok{i}"), finish, &[work], &[ready]);
        timed(format!("back{i}"), 0.3, &[spoilt], &[work]);
    }
    timed("synch123".to_owned(), 0.4, &[one[3], two[0], three[0]], &[one[0], two[1], three[1]]);
    timed("synch234".to_owned(), 0.5, &[two[3], three[3], four[0]], &[two[0], three[0], four[1]]);
    timed("out4".to_owned(), 0.9, &[four[3]], &[four[0]]);
    b.build().map_err(|problems| format!("{problems:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nets_have_their_sizes() {
        let cases = cases().unwrap();
        let sizes: Vec<usize> = cases.iter().map(|case| case.program.transitions()).collect();
        assert_eq!(sizes, [5 * 160 + 2 * 40 + 2, 5 * 1000 + 2 * 100 + 2, 16]);
    }
}
