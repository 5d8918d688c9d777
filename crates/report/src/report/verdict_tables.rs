//! Tables of verdicts on all markings of a net, with their firing sequences: for nets with and without time.

use crate::ask::net::{DeadMarkings, ExchangedParts, LivenessRow, MarkingBound, UnboundedRow, VerdictRow};
use crate::document::{Cell, Column, Number, Show, Table};
use crate::report::number::{count, counted};

/// Transitions of a firing sequence that are shown.
const MOST_STEPS: usize = 12;
/// Rows of a table of places or transitions that are shown without `--verbose`.
pub(crate) const MOST_ROWS: usize = 20;

/// Findings from all markings of a net.
pub(crate) struct Findings<'a> {
    pub(crate) partial: bool,
    /// True if there is a state space.
    pub(crate) explored: bool,
    pub(crate) unbounded: Option<&'a UnboundedRow>,
    pub(crate) safe: Option<bool>,
    pub(crate) bounds: &'a [MarkingBound],
    pub(crate) deadlocks: Option<&'a DeadMarkings>,
    pub(crate) verdicts: Option<&'a VerdictRow>,
    pub(crate) liveness: &'a [LivenessRow],
}

impl Findings<'_> {
    /// Returns bounds, deadlocks, liveness and home states of the whole net.
    pub(crate) fn verdicts(&self) -> Table {
        let mut table = Table::fields("Verdicts");
        let mut push = |name: &str, cell: Cell| table.rows.push(vec![name.into(), cell]);
        let yes = |holds: bool| Cell::from(if holds { "yes" } else { "no" });
        if let Some(unbounded) = self.unbounded {
            push("bounded", "no".into());
            push("firing sequence", steps(&unbounded.prefix).into());
            push("then repeats", steps(&unbounded.cycle).into());
            let [name, places] = coverability(unbounded);
            push(&name, places.into());
        }
        if !self.explored {
            return table;
        }
        let most = counted(self.bounds.iter().map(|row| row.bound).max().unwrap_or(0), "token");
        push(
            "bounded",
            match (self.partial, self.safe) {
                (true, _) => format!("unknown; some place can hold {most}"),
                (false, Some(true)) => "yes, and safe: no place ever holds two tokens".to_owned(),
                (false, _) => format!("yes: no place ever holds more than {most}"),
            }
            .into(),
        );
        match self.deadlocks {
            None => push("deadlocks", "none among the explored states".into()),
            Some(dead) => {
                push("deadlocks", Number::new("/deadlocks/count", dead.count, "").into());
                first_deadlock(dead).into_iter().for_each(|(name, text)| push(name, text.into()));
            }
        }
        match self.verdicts {
            None => push("live, reversible", "unknown: needs all states".into()),
            Some(verdicts) => {
                push("live", yes(verdicts.live));
                push("reversible", yes(verdicts.reversible));
                push("home states", Number::count("/verdicts/home_states", verdicts.home_states.into()).into());
                push("recurrent classes", count(verdicts.recurrent_classes.len() as u128).into());
            }
        }
        table
    }

    /// Returns the maximum number of tokens in each place.
    pub(crate) fn bounds(&self) -> Table {
        let note = if self.partial { "Lower bounds: not all states were explored." } else { "" };
        let columns =
            [Column::new("place"), Column::new("maximum").unit("tokens").key("bound"), Column::new("reached by")];
        let infinite = |place: &String| vec![place.clone().into(), Number::new("", f64::INFINITY, "tokens").into()];
        let unbounded = self.unbounded.iter().flat_map(|row| &row.places).map(infinite);
        let row = |(i, row): (usize, &MarkingBound)| {
            let bound = Number::new(format!("/bounds/{i}/bound"), row.bound as f64, "tokens");
            let path = row.path.as_ref().map(|path| steps(path));
            vec![row.name.clone().into(), bound.into(), path.into()]
        };
        let table = Table::new("Bounds", note, columns).rows(unbounded).rows(self.bounds.iter().enumerate().map(row));
        table.most(MOST_ROWS).show(if self.unbounded.is_some() { Show::Csv } else { Show::Always })
    }

    /// Returns the liveness of each transition.
    pub(crate) fn liveness(&self) -> Table {
        let columns = [
            Column::new("transition"),
            Column::new("fires"),
            Column::new("level L").key("liveness"),
            Column::new("never again after"),
        ];
        let row = |(i, row): (usize, &LivenessRow)| {
            let words = match row.level {
                0 => "never",
                1 => "finitely often",
                3 => "infinitely often in some runs",
                _ => "can always fire again",
            };
            let level = Number::count(format!("/liveness/{i}/level"), row.level.into());
            let lost = row.lost_after.as_ref().map(|path| steps(path));
            vec![row.name.clone().into(), words.into(), level.into(), lost.into()]
        };
        Table::new("Liveness", "", columns).rows(self.liveness.iter().enumerate().map(row)).most(MOST_ROWS)
    }

    /// Summarises the markings as text: deadlocks and liveness.
    pub(crate) fn in_words(&self) -> String {
        let live = match self.verdicts {
            Some(verdicts) if verdicts.live => " and live",
            Some(_) => ", not live",
            None => "",
        };
        match self.deadlocks {
            Some(dead) if dead.count > 0.0 => counted(dead.count as u128, "deadlock"),
            Some(_) => format!("deadlock-free{live}"),
            None => "no deadlock among the explored states".to_owned(),
        }
    }
}

/// Returns the unbounded places, and the certainty of the list.
fn coverability(unbounded: &UnboundedRow) -> [String; 2] {
    let Some(graph) = &unbounded.coverability else {
        return ["unbounded places", &listed(&unbounded.places)].map(str::to_owned);
    };
    let places = listed(&graph.unbounded);
    if graph.ignored.is_empty() {
        return ["unbounded places".to_owned(), format!("{places}; every other place is bounded")];
    }
    let ignored = graph.ignored.join(", ");
    ["unbounded places".to_owned(), format!("at most {places}; every other place is bounded ({ignored} ignored)")]
}

fn first_deadlock(dead: &DeadMarkings) -> Vec<(&'static str, String)> {
    if dead.count == 0.0 {
        return Vec::new();
    }
    let marking = if dead.marking.is_empty() { "no tokens".to_owned() } else { marking(&dead.marking) };
    vec![("  the first", marking), ("  reached by", steps(&dead.path))]
}

/// Returns the marked places as text.
pub(crate) fn marking(marked: &[(String, u32)]) -> String {
    let place =
        |(place, tokens): &(String, u32)| if *tokens == 1 { place.clone() } else { format!("{tokens} {place}") };
    marked.iter().map(place).collect::<Vec<_>>().join(" + ")
}

/// Returns names in a list.
pub(crate) fn listed(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Returns a firing sequence.
pub(crate) fn steps(path: &[String]) -> String {
    if path.is_empty() {
        return "the start".to_owned();
    }
    let shown = path.iter().take(MOST_STEPS).cloned().collect::<Vec<_>>().join(" ");
    let more = path.len().saturating_sub(MOST_STEPS);
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

/// Describes parts of a net that are pairwise exchangeable.
pub(super) fn exchanged(parts: &ExchangedParts) -> String {
    format!("{} parts like the part of `{}`", count(parts.parts as u128), parts.example)
}
