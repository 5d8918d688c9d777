//! Validation of the parts of a net; finds all problems in one pass.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use crate::net::builder::NetBuilder;
use crate::net::expr::{Expr, Leaf};
use crate::net::ids::{ClassId, ParameterId, PlaceId, TransitionId};
use crate::net::index::{Index, Named};
use crate::net::parts::{ClassWeight, Delay, Servers, Timing};
use crate::net::problem::{BuildProblem, PartRef};

impl NetBuilder {
    /// Every problem, in the order of the parts.
    pub(super) fn problems(&self) -> Vec<BuildProblem> {
        let mut problems = Vec::new();
        self.check_ids(&mut problems);
        self.check_parameters(&mut problems);
        self.check_places(&mut problems);
        self.check_transitions(&mut problems);
        self.check_arcs(&mut problems);
        problems
    }

    fn check_ids(&self, problems: &mut Vec<BuildProblem>) {
        let place = |i| PartRef::Place(PlaceId::from_index(i));
        let transition = |i| PartRef::Transition(TransitionId::from_index(i));
        let class = |i| PartRef::Class(ClassId::from_index(i));
        let parameter = |i| PartRef::Parameter(ParameterId::from_index(i));
        check_unique("token class", &self.classes, &self.index.classes, class, problems);
        check_unique("rate parameter", &self.parameters, &self.index.parameters, parameter, problems);
        check_unique("place", &self.places, &self.index.places, place, problems);
        check_unique("transition", &self.transitions, &self.index.transitions, transition, problems);
        self.check_arc_ids(problems);
    }

    /// Arcs have no index, and their ids are seldom stored: ids are compared only if several have the same hash.
    fn check_arc_ids(&self, problems: &mut Vec<BuildProblem>) {
        let hasher = RandomState::new();
        let mut hashes: Vec<u64> = (0..self.arcs.len()).map(|i| hasher.hash_one(self.arc_id(i))).collect();
        hashes.sort_unstable();
        if hashes.windows(2).all(|pair| pair[0] != pair[1]) {
            return;
        }
        let mut seen = HashSet::new();
        for i in 0..self.arcs.len() {
            let id = self.arc_id(i);
            if !seen.insert(id.clone()) {
                problems.push(BuildProblem::DuplicateId { kind: "arc", id, part: PartRef::Arc(i) });
            }
        }
    }

    /// Reports leaves that do not belong to this builder, and a constant that is negative or not finite.
    /// `what` names the expression.
    fn check_expr(&self, what: &dyn Fn() -> String, expr: &Expr, part: PartRef, problems: &mut Vec<BuildProblem>) {
        if let Some(value) = expr.as_number()
            && (!value.is_finite() || value < 0.0)
        {
            problems.push(BuildProblem::BadNumber { what: what(), value, part });
        }
        expr.for_each_leaf(&mut |leaf| {
            let missing = match *leaf {
                Leaf::Parameter(id) => (id.index() >= self.parameters.len()).then_some("rate parameter"),
                Leaf::Capacity(p) | Leaf::Tokens(p, None) => (p.index() >= self.places.len()).then_some("place"),
                Leaf::Tokens(p, Some(c)) => {
                    let missing = (c.index() >= self.classes.len()).then_some("token class");
                    missing.or((p.index() >= self.places.len()).then_some("place"))
                }
            };
            if let Some(kind) = missing {
                problems.push(BuildProblem::ForeignId { what: what(), kind, part });
            }
        });
    }

    fn check_parameters(&self, problems: &mut Vec<BuildProblem>) {
        for (i, parameter) in self.parameters.iter().enumerate() {
            let part = PartRef::Parameter(ParameterId::from_index(i));
            self.check_expr(&|| format!("rate parameter `{}`", parameter.name), &parameter.value, part, problems);
            let mut ordered = true;
            parameter.value.for_each_leaf(&mut |leaf| {
                ordered &= !matches!(leaf, Leaf::Parameter(used) if used.index() >= i);
            });
            if !ordered {
                problems.push(BuildProblem::ParameterOrder { name: parameter.name.clone(), part });
            }
        }
    }

    fn check_places(&self, problems: &mut Vec<BuildProblem>) {
        for (i, place) in self.places.iter().enumerate() {
            let part = PartRef::Place(PlaceId::from_index(i));
            let tokens = place.initial_total();
            if let Some(capacity) = place.capacity
                && tokens > u64::from(capacity)
            {
                problems.push(BuildProblem::AboveCapacity { place: place.id.clone(), tokens, capacity, part });
            }
            if place.initial.len() > self.classes.len() {
                let what = format!("the marking of place `{}`", place.id);
                problems.push(BuildProblem::ForeignId { what, kind: "token class", part });
            }
        }
    }

    fn check_transitions(&self, problems: &mut Vec<BuildProblem>) {
        for (i, t) in self.transitions.iter().enumerate() {
            let part = PartRef::Transition(TransitionId::from_index(i));
            match &t.timing {
                Timing::Immediate { weight, .. } => {
                    self.check_expr(&|| format!("the weight of transition `{}`", t.id), weight, part, problems);
                }
                Timing::Timed { delay, servers, .. } => {
                    match delay {
                        Delay::Exponential { rate } => {
                            self.check_expr(&|| format!("the rate of transition `{}`", t.id), rate, part, problems);
                        }
                        Delay::General(law) => problems.extend(law.problem().map(|problem| BuildProblem::Law {
                            transition: t.id.clone(),
                            problem,
                            part,
                        })),
                    }
                    if *servers == Servers::Limited(0) {
                        problems.push(BuildProblem::NoServer { transition: t.id.clone(), part });
                    }
                }
            }
        }
    }

    fn check_arcs(&self, problems: &mut Vec<BuildProblem>) {
        for (i, arc) in self.arcs.iter().enumerate() {
            let part = PartRef::Arc(i);
            let what = || format!("arc `{}`", self.arc_id(i));
            if arc.place.index() >= self.places.len() {
                problems.push(BuildProblem::ForeignId { what: what(), kind: "place", part });
            }
            if arc.transition.index() >= self.transitions.len() {
                problems.push(BuildProblem::ForeignId { what: what(), kind: "transition", part });
            }
            for ClassWeight { class, weight } in &arc.weights {
                if class.index() >= self.classes.len() {
                    problems.push(BuildProblem::ForeignId { what: what(), kind: "token class", part });
                }
                self.check_expr(&|| format!("the weight of arc `{}`", self.arc_id(i)), weight, part, problems);
                if let Some(value) = weight.as_number()
                    && value >= 0.0
                    && (value.fract() != 0.0 || value >= f64::from(1_u32 << 31))
                {
                    problems.push(BuildProblem::BadArcWeight { arc: self.arc_id(i), value, part });
                }
            }
        }
    }
}

fn check_unique<P: Named>(
    kind: &'static str,
    parts: &[P],
    index: &Index,
    part: impl Fn(usize) -> PartRef,
    problems: &mut Vec<BuildProblem>,
) {
    for (i, named) in parts.iter().enumerate() {
        let id = named.id();
        if id.is_empty() {
            problems.push(BuildProblem::EmptyId { kind, part: part(i) });
        }
        // the index has the first part of this id
        if index.find(parts, id).is_some_and(|first| first != i) {
            problems.push(BuildProblem::DuplicateId { kind, id: id.to_owned(), part: part(i) });
        }
    }
}
