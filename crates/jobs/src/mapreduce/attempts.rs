//! The attempts of tasks as parts of a net: draws of a fate, paths of stages, flags, copies, and races that leave no token behind.
//!
//! Implements the construction shared by `straggler` and `speculation`, which define the fates. For one task, with a fate `caught` that is flagged after
//! its first stage:
//!
//! ```text
//!                 ┌─drawUsual─▶ start ─stage 1─▶ ○ ─stage 2────────────────────────────────▶ what the last stage feeds
//! ─▶ begin ───────┤                                                                         ▲
//!                 └─drawCaught─▶ ○ ─stage 1─▶ ○ ─stage 2─▶ originalEnded ─┬─ with wanted ────┤
//!                                      │                                  └─ with a copy ────┤
//!                                      └▶ wanted ─launch─▶ ○ ─copy's stages─▶ copyEnded ─────┘ with the original
//! ```
//!
//! Each race ends in one immediate firing that takes both tokens, wherever the loser is: no inhibitor arcs are needed.
//! Two invariants hold for each task, one through its original attempt, one through its copy. The tests compute them
//! and compare them with the end of the task: no token remains.

use std::collections::BTreeMap;

use crate::mapreduce::augmented::{AttemptParts, AugmentError, Augmented, CopySlots};
use crate::mapreduce::fate::{Fate, Part, cut, stretched};
use crate::mapreduce::task_chain::{ArcIndex, Checked, TaskChain, check};
use crate::net::{Net, NetBuilder, PlaceId, Point, Timing, Transition, TransitionId};

/// Configuration of copies.
#[derive(Clone, Debug)]
pub(super) struct Copies<'a> {
    /// Possible fates of a copy. A copy races from its own start, so `flagged_at` is 0 in each fate.
    pub(super) kinds: Vec<Fate<'a>>,
    pub(super) slots: CopySlots,
}

/// Adds to a net, for each task, one path per possible fate, and the paths of its copy if a fate can be flagged.
pub(super) fn weave(
    net: &Net,
    chains: &[TaskChain],
    fates: &[Fate<'_>],
    copies: &Copies<'_>,
) -> Result<Augmented, AugmentError> {
    let index = ArcIndex::new(net);
    let checked = check(net, &index, chains).map_err(AugmentError::Chains)?;
    let races = fates.iter().any(|fate| fate.flagged_at.is_some());
    let rows = fates.len() + if races { copies.kinds.len() } else { 0 };
    let mut weaver = Weaver {
        net,
        index: &index,
        fates,
        copies,
        builder: net.to_builder(),
        removed: Vec::new(),
        pools: BTreeMap::new(),
        levels: Levels::new(net),
        stages: Vec::new(),
    };
    if rows > 1 {
        weaver.make_room(&checked, rows, races);
    }
    if races {
        weaver.share_slots(&checked)?;
    }
    let tasks = checked.iter().map(|task| weaver.task(task, races)).collect();
    weaver.builder.remove_arcs(&weaver.removed);
    let net = weaver.builder.build().map_err(AugmentError::Parts)?;
    Ok(Augmented { net, tasks, stages: weaver.stages })
}

/// Priorities of the added immediate transitions.
#[derive(Clone, Copy, Debug)]
struct Levels {
    /// Priority of the original transitions, at least 1.
    own: u32,
}

impl Levels {
    fn new(net: &Net) -> Self {
        let priority = |transition: &Transition| match transition.timing {
            Timing::Immediate { priority, .. } => priority,
            Timing::Timed { .. } => 0,
        };
        Self { own: net.transitions().iter().map(priority).max().unwrap_or(0).max(1) }
    }

    /// Priority of copies that take idle slots only, below the starts of tasks.
    fn idle_copies(self) -> u32 {
        self.own
    }

    /// Priority of the starts of tasks if copies take the slots that tasks leave, and of copies with precedence.
    fn first(self) -> u32 {
        self.own + 1
    }

    /// Priority of draws and ends of races: before everything else.
    fn at_once(self) -> u32 {
        self.own + 2
    }
}

/// One stage of an attempt, or a part of one.
#[derive(Clone, Copy, Debug)]
struct Piece {
    place: PlaceId,
    transition: TransitionId,
}

/// The path of an attempt, and the number of its pieces before the flag.
#[derive(Clone, Debug)]
struct Path {
    pieces: Vec<Piece>,
    before: usize,
}

/// Parts shared by the copies of one task.
#[derive(Clone, Copy, Debug)]
struct Race {
    wanted: PlaceId,
    original_ended: PlaceId,
    copy_ended: PlaceId,
}

struct Weaver<'a> {
    net: &'a Net,
    index: &'a ArcIndex,
    fates: &'a [Fate<'a>],
    copies: &'a Copies<'a>,
    builder: NetBuilder,
    /// Arcs of the net to be removed.
    removed: Vec<usize>,
    /// Slots of copies, for each kind of slots of tasks.
    pools: BTreeMap<Option<PlaceId>, Option<PlaceId>>,
    levels: Levels,
    stages: Vec<(TransitionId, TransitionId)>,
}

/// Distance between rows and between half columns of the drawing \[pixels\].
const STEP: Point = Point { x: 90.0, y: 60.0 };

impl Weaver<'_> {
    /// Moves the drawing apart: more rows for each task, two columns before its start, two after its end.
    fn make_room(&mut self, tasks: &[Checked], rows: usize, races: bool) {
        let x_of = |position: Option<Point>| position.map(|point| point.x);
        let mut starts: Vec<f64> = tasks.iter().filter_map(|t| x_of(self.net.place(t.chain.start).position)).collect();
        let last = |task: &Checked| task.chain.stages.last().and_then(|&t| x_of(self.net.transition(t).position));
        let mut ends: Vec<f64> = tasks.iter().filter_map(last).collect();
        for columns in [&mut starts, &mut ends] {
            columns.sort_by(f64::total_cmp);
            columns.dedup();
        }
        let moved = |point: Point| {
            let before = starts.iter().filter(|x| point.x >= **x).count();
            let after = if races { ends.iter().filter(|x| point.x > **x).count() } else { 0 };
            Point { x: point.x + 2.0 * STEP.x * (before + after) as f64, y: point.y * rows as f64 }
        };
        for place in 0..self.net.places().len() {
            let place = self.builder.place_mut(PlaceId::from_index(place));
            place.position = place.position.map(moved);
        }
        for transition in 0..self.net.transitions().len() {
            let transition = self.builder.transition_mut(TransitionId::from_index(transition));
            transition.position = transition.position.map(moved);
        }
    }

    /// Determines the slots of copies; reserved slots are subtracted from the slots of tasks.
    fn share_slots(&mut self, tasks: &[Checked]) -> Result<(), AugmentError> {
        let mut kinds: Vec<Option<PlaceId>> = tasks.iter().map(|task| task.chain.slots).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for slots in kinds {
            let pool = match self.copies.slots {
                CopySlots::Shared => slots,
                CopySlots::Idle => {
                    if let Some(slots) = slots {
                        self.raise_starts(slots);
                    }
                    slots
                }
                CopySlots::Reserved(reserved) => Some(self.reserve(slots, reserved)?),
            };
            self.pools.insert(slots, pool);
        }
        Ok(())
    }

    /// Gives tasks that wait for a slot priority over copies.
    fn raise_starts(&mut self, slots: PlaceId) {
        for transition in self.index.takers(self.net, slots) {
            if let Timing::Immediate { priority, .. } = &mut self.builder.transition_mut(transition).timing {
                *priority = self.levels.first();
            }
        }
    }

    fn reserve(&mut self, slots: Option<PlaceId>, reserved: u32) -> Result<PlaceId, AugmentError> {
        let Some(slots) = slots else { return Ok(self.place("copySlots".into(), reserved, Some(STEP))) };
        let id = self.net.place(slots).id.clone();
        let place = self.builder.place_mut(slots);
        let all = place.initial.first().copied().unwrap_or(0);
        if reserved >= all {
            return Err(AugmentError::NoTaskSlot { place: id, slots: all, reserved });
        }
        place.initial[0] = all - reserved;
        let position = below(place.position, 0.5);
        Ok(self.place(joined("copy", &id), reserved, position))
    }

    fn task(&mut self, task: &Checked, races: bool) -> AttemptParts {
        let mut parts =
            AttemptParts { name: task.chain.name.clone(), slots: task.chain.slots, ..AttemptParts::default() };
        let race = races.then(|| self.race(task));
        let entries = self.entries(task);
        let mut raced = Vec::new();
        for (row, (fate, entry)) in self.fates.iter().zip(entries).enumerate() {
            let path = self.path(task, fate, row, row == 0, race.map(|race| race.original_ended));
            let entry = self.enter(task, entry, path.pieces[0].place);
            parts.original.extend(path.pieces.iter().map(|piece| piece.place));
            let Some((race, at)) = race.zip(fate.flagged_at) else { continue };
            self.flag(entry, &path, race.wanted);
            let open = path.pieces[path.before..].iter().map(|piece| piece.place);
            raced.extend(open.map(|place| (place, at * task.usual)));
        }
        if let Some(race) = race {
            self.copy(task, race, &raced, &mut parts);
        }
        parts
    }

    /// Adds the places of a race, in the column after the last stage.
    fn race(&mut self, task: &Checked) -> Race {
        let name = &task.chain.name;
        let last = task.chain.stages.last().and_then(|&t| self.builder.transition_mut(t).position);
        let beside = last.map(|point| Point { x: point.x + STEP.x, ..point });
        let original_ended = self.place(format!("originalEnded{name}"), 0, beside);
        let row = self.fates.len() as f64;
        let copy_ended = self.place(format!("copyEnded{name}"), 0, below(beside, row));
        let start = self.builder.place_mut(task.chain.start).position;
        let wanted = start.map(|point| Point { x: point.x - 2.0 * STEP.x, ..point });
        let wanted = self.place(format!("wanted{name}"), 0, below(wanted, row));
        Race { wanted, original_ended, copy_ended }
    }

    /// Adds the transitions that draw each outcome; none if there is only one outcome.
    fn entries(&mut self, task: &Checked) -> Vec<Option<TransitionId>> {
        if self.fates.len() == 1 {
            return vec![None];
        }
        let (name, start) = (&task.chain.name, task.chain.start);
        let left =
            |point: Option<Point>, columns: f64| point.map(|point| Point { x: point.x - columns * STEP.x, ..point });
        let at = self.builder.place_mut(start).position;
        let tokens = std::mem::take(&mut self.builder.place_mut(start).initial);
        let begin = self.place(format!("begin{name}"), 0, left(at, 2.0));
        self.builder.place_mut(begin).initial = tokens;
        for arc in self.index.into(self.net, start) {
            self.redirect(arc, begin);
        }
        let draw = |(row, fate): (usize, &Fate<'_>)| {
            let timing = Timing::immediate(fate.probability, self.levels.at_once());
            let id = joined("draw", &joined(&fate.name, name));
            let draw = add_transition(&mut self.builder, id, timing, below(left(at, 1.0), row as f64));
            self.builder.input(begin, draw, 1.0);
            Some(draw)
        };
        self.fates.iter().enumerate().map(draw).collect()
    }

    /// Returns the transitions that start a path: the draw, which is connected to the first place of the path, or,
    /// without a draw, the transitions that start the task.
    fn enter(&mut self, task: &Checked, draw: Option<TransitionId>, first: PlaceId) -> Vec<TransitionId> {
        match draw {
            Some(draw) => {
                self.builder.output(draw, first, 1.0);
                vec![draw]
            }
            None => self.index.into(self.net, task.chain.start).map(|arc| self.net.arcs()[arc].transition).collect(),
        }
    }

    /// Requests a copy at the end of the pieces before the flag.
    fn flag(&mut self, entry: Vec<TransitionId>, path: &Path, wanted: PlaceId) {
        if path.before > 0 {
            self.builder.output(path.pieces[path.before - 1].transition, wanted, 1.0);
            return;
        }
        let first = self.builder.place_mut(path.pieces[0].place).initial.clone();
        self.builder.place_mut(wanted).initial = first;
        for transition in entry {
            self.builder.output(transition, wanted, 1.0);
        }
    }

    /// Adds an attempt with a fate: its stages in series. `own` uses the chain's original parts. The attempt
    /// ends on the place `ended` if it is flagged, or else as the task did.
    fn path(&mut self, task: &Checked, fate: &Fate<'_>, row: usize, own: bool, ended: Option<PlaceId>) -> Path {
        let (parts, before) = cut(task, fate);
        let pieces: Vec<Piece> = parts
            .iter()
            .enumerate()
            .map(|(number, part)| {
                let is_rest = number > 0 && parts[number - 1].stage == part.stage;
                let piece = self.piece(task, fate, *part, row, own && !is_rest, is_rest);
                let stage = task.chain.stages[part.stage];
                if parts.get(number + 1).is_none_or(|next| next.stage != part.stage) && piece.transition != stage {
                    self.stages.push((piece.transition, stage));
                }
                piece
            })
            .collect();
        let last = pieces[pieces.len() - 1].transition;
        let flagged = fate.flagged_at.is_some();
        if own && !flagged {
            return Path { pieces, before };
        }
        if own {
            let stages = task.chain.stages.iter();
            self.removed.extend(stages.flat_map(|&stage| self.index.out_of(self.net, stage)));
        }
        for pair in pieces.windows(2) {
            self.builder.output(pair[0].transition, pair[1].place, 1.0);
        }
        match ended {
            Some(ended) if flagged => {
                self.builder.output(last, ended, 1.0);
            }
            _ => self.end_task(task, last, None),
        }
        Path { pieces, before }
    }

    /// Adds one piece: its place, its transition, and the arc between them.
    fn piece(&mut self, task: &Checked, fate: &Fate<'_>, part: Part, row: usize, own: bool, is_rest: bool) -> Piece {
        let (place, stage) = (task.places[part.stage], task.chain.stages[part.stage]);
        let timing = stretched(self.net, stage, task.means[part.stage], fate, part.share);
        if own {
            self.builder.transition_mut(stage).timing = timing;
            return Piece { place, transition: stage };
        }
        let rest = if is_rest { "Rest" } else { "" };
        let place_id = joined(&fate.name, &self.net.place(place).id) + rest;
        let id = joined(&fate.name, &self.net.transition(stage).id) + rest;
        let lower = row as f64 + if is_rest { 0.5 } else { 0.0 };
        let place_at = below(self.builder.place_mut(place).position, lower);
        let at = below(self.builder.transition_mut(stage).position, lower);
        let place = self.place(place_id, 0, place_at);
        let transition = add_transition(&mut self.builder, id, timing, at);
        self.builder.input(place, transition, 1.0);
        Piece { place, transition }
    }

    /// Adds the copy of a task, and the ends of the race with the original on any of the places `raced`.
    fn copy(&mut self, task: &Checked, race: Race, raced: &[(PlaceId, f64)], parts: &mut AttemptParts) {
        let name = &task.chain.name;
        let slots = self.pools.get(&task.chain.slots).copied().flatten();
        (parts.copy_slots, parts.wanted) = (slots, Some(race.wanted));
        let priority = match self.copies.slots {
            CopySlots::Idle => self.levels.idle_copies(),
            CopySlots::Shared | CopySlots::Reserved(_) => self.levels.first(),
        };
        for (number, kind) in self.copies.kinds.iter().enumerate() {
            let path = self.path(task, kind, self.fates.len() + number, false, Some(race.copy_ended));
            let at = self.builder.place_mut(path.pieces[0].place).position;
            let at = at.map(|point| Point { x: point.x - STEP.x, ..point });
            let id = joined("launch", &joined(&kind.name, name));
            let launch = add_transition(&mut self.builder, id, Timing::immediate(kind.probability, priority), at);
            self.builder.input(race.wanted, launch, 1.0);
            if let Some(slots) = slots {
                self.builder.input(slots, launch, 1.0);
            }
            self.builder.output(launch, path.pieces[0].place, 1.0);
            parts.launches.push(launch);
            parts.copy.extend(path.pieces.iter().map(|piece| piece.place));
        }
        for (number, &(place, before_s)) in raced.iter().enumerate() {
            let id = format!("copyWins{name}x{}", number + 1);
            parts.copy_wins.push((self.end_race(task, id, [race.copy_ended, place], slots), before_s));
        }
        for (number, &place) in parts.copy.iter().enumerate() {
            let id = format!("originalWins{name}x{}", number + 1);
            parts.original_wins.push(self.end_race(task, id, [race.original_ended, place], slots));
        }
        let id = format!("originalWins{name}x0");
        parts.original_wins.push(self.end_race(task, id, [race.original_ended, race.wanted], None));
    }

    /// Adds the immediate firing that ends a race: the winner is on one place, the loser on the other.
    fn end_race(&mut self, task: &Checked, id: String, taken: [PlaceId; 2], slots: Option<PlaceId>) -> TransitionId {
        let at = below(self.builder.place_mut(taken[1]).position, 0.3);
        let timing = Timing::immediate(1.0, self.levels.at_once());
        let end = add_transition(&mut self.builder, id, timing, at);
        for place in taken {
            self.builder.input(place, end, 1.0);
        }
        self.end_task(task, end, slots);
        end
    }

    /// Adds the outputs of a task's last stage, and the return of a copy's slot.
    fn end_task(&mut self, task: &Checked, transition: TransitionId, mut copy_slot: Option<PlaceId>) {
        let Some(&last) = task.chain.stages.last() else { return };
        for arc in self.index.out_of(self.net, last) {
            let arc = &self.net.arcs()[arc];
            let new = self.builder.output(transition, arc.place, 0.0);
            let weights = &mut self.builder.arc_mut(new).weights;
            weights.clone_from(&arc.weights);
            // PIPE would merge two arcs between the same parts into one
            if copy_slot == Some(arc.place) && task.chain.slots == copy_slot {
                weights[0].weight = 2.0.into();
                copy_slot = None;
            }
        }
        if let Some(slots) = copy_slot {
            self.builder.output(transition, slots, 1.0);
        }
    }

    /// Redirects an arc of the net to another place.
    fn redirect(&mut self, arc: usize, place: PlaceId) {
        let arc = self.builder.arc_mut(arc);
        (arc.place, arc.id) = (place, String::new());
        arc.path.clear();
    }

    fn place(&mut self, id: String, tokens: u32, position: Option<Point>) -> PlaceId {
        let place = self.builder.place(id, tokens);
        self.builder.place_mut(place).position = position;
        place
    }
}

fn add_transition(net: &mut NetBuilder, id: String, timing: Timing, position: Option<Point>) -> TransitionId {
    let transition = net.transition(id, timing);
    net.transition_mut(transition).position = position;
    transition
}

/// Returns a point some rows below another.
fn below(point: Option<Point>, rows: f64) -> Option<Point> {
    point.map(|point| Point { y: point.y + rows * STEP.y, ..point })
}

/// Joins two ids, capitalising the second.
fn joined(first: &str, second: &str) -> String {
    let mut letters = second.chars();
    letters.next().map_or_else(String::new, |c| format!("{first}{}{}", c.to_ascii_uppercase(), letters.as_str()))
}
