//! The only way to build a [`Net`]: takes parts, and returns a net or all its problems.

use std::collections::HashSet;

use crate::Problems;
use crate::net::Net;
use crate::net::expr::{self, Expr, ExprError, Function, Names};
use crate::net::ids::{ClassId, ParameterId, PlaceId, TransitionId};
use crate::net::index::{Lookup, NameIndex};
use crate::net::parts::{
    Annotation, Arc, ArcKind, ClassWeight, Delay, Parameter, Place, StateGroup, Timing, TokenClass, Transition,
};
use crate::net::problem::{BuildError, GuardError};

/// Builds a net from parts.
///
/// ```
/// use tailspn_engine::net::{NetBuilder, Timing};
///
/// let mut b = NetBuilder::new("M/M/1/5");
/// let queue = b.place("queue", 0);
/// b.place_mut(queue).capacity = Some(5);
/// let arrive = b.transition("arrive", Timing::exponential(2.0));
/// let serve = b.transition("serve", Timing::exponential(3.0));
/// b.output(arrive, queue, 1.0);
/// b.input(queue, serve, 1.0);
/// let net = b.build().unwrap();
/// assert_eq!(net.places().len(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct NetBuilder {
    name: String,
    pub(super) classes: Vec<TokenClass>,
    pub(super) parameters: Vec<Parameter>,
    pub(super) places: Vec<Place>,
    pub(super) transitions: Vec<Transition>,
    pub(super) arcs: Vec<Arc>,
    annotations: Vec<Annotation>,
    state_groups: Vec<StateGroup>,
    /// The ids; names can still change.
    pub(super) index: NameIndex,
    /// True if names of places are found too, because they are those of a net.
    searches_names: bool,
}

impl Net {
    /// A builder with a copy of this net, to build a changed net.
    pub fn to_builder(&self) -> NetBuilder {
        NetBuilder::from_net(self)
    }
}

impl NetBuilder {
    /// An empty net with one token class, `Default`.
    pub fn new(name: impl Into<String>) -> Self {
        let mut builder = Self::without_classes(name);
        builder.add_class(TokenClass::default_class());
        builder
    }

    /// An empty net without any token class; at least one must be added before the first place.
    pub fn without_classes(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            classes: Vec::new(),
            parameters: Vec::new(),
            places: Vec::new(),
            transitions: Vec::new(),
            arcs: Vec::new(),
            annotations: Vec::new(),
            state_groups: Vec::new(),
            index: NameIndex::default(),
            searches_names: false,
        }
    }

    pub(super) fn from_net(net: &Net) -> Self {
        Self {
            name: net.name.clone(),
            classes: net.classes.clone(),
            parameters: net.parameters.clone(),
            places: net.places.clone(),
            transitions: net.transitions.clone(),
            arcs: net.arcs.clone(),
            annotations: net.annotations.clone(),
            state_groups: net.state_groups.clone(),
            index: NameIndex::of_ids(&net.places, &net.transitions, &net.classes, &net.parameters),
            searches_names: true,
        }
    }

    /// Adds a token class.
    pub fn add_class(&mut self, class: TokenClass) -> ClassId {
        let id = ClassId::from_index(self.classes.len());
        self.classes.push(class);
        self.index.classes.add_id(&self.classes, id.index());
        id
    }

    /// Adds a rate parameter.
    pub fn add_parameter(&mut self, parameter: Parameter) -> ParameterId {
        let id = ParameterId::from_index(self.parameters.len());
        self.parameters.push(parameter);
        self.index.parameters.add_id(&self.parameters, id.index());
        id
    }

    /// Adds a rate parameter with a constant value.
    pub fn parameter(&mut self, name: impl Into<String>, value: f64) -> ParameterId {
        self.add_parameter(Parameter { name: name.into(), value: value.into(), position: None })
    }

    /// Adds a place.
    pub fn add_place(&mut self, place: Place) -> PlaceId {
        let id = PlaceId::from_index(self.places.len());
        self.places.push(place);
        self.index.places.add_id(&self.places, id.index());
        id
    }

    /// Adds a place with tokens of the first class.
    pub fn place(&mut self, id: impl Into<String>, tokens: u32) -> PlaceId {
        self.add_place(Place { id: id.into(), initial: vec![tokens], ..Place::default() })
    }

    /// Adds a transition.
    pub fn add_transition(&mut self, transition: Transition) -> TransitionId {
        let id = TransitionId::from_index(self.transitions.len());
        self.transitions.push(transition);
        self.index.transitions.add_id(&self.transitions, id.index());
        id
    }

    /// Adds a transition that has only an id and a timing.
    pub fn transition(&mut self, id: impl Into<String>, timing: Timing) -> TransitionId {
        self.add_transition(Transition::new(id, timing))
    }

    /// Lets a transition fire only in markings where `condition` is not 0: the condition becomes a factor of its rate or
    /// weight, `if(condition, rate, 0)`.
    ///
    /// ```
    /// # use tailspn_engine::net::{NetBuilder, Timing};
    /// let mut b = NetBuilder::new("a queue that is served in batches");
    /// let queue = b.place("queue", 0);
    /// let serve = b.transition("serve", Timing::exponential(2.0));
    /// b.input(queue, serve, 1.0);
    /// let condition = b.expression("#(queue) >= 3").unwrap();
    /// b.guard(serve, condition).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// A delay that is not exponential, which has no rate.
    pub fn guard(&mut self, transition: TransitionId, condition: Expr) -> Result<(), GuardError> {
        let Transition { id, timing, .. } = &mut self.transitions[transition.index()];
        let rate = match timing {
            Timing::Immediate { weight: rate, .. } | Timing::Timed { delay: Delay::Exponential { rate }, .. } => rate,
            Timing::Timed { delay: Delay::General(_), .. } => {
                return Err(GuardError { transition: id.clone() });
            }
        };
        let allowed = std::mem::replace(rate, Expr::Number(0.0));
        *rate = Expr::Call(Function::If, vec![condition, allowed, Expr::Number(0.0)]);
        Ok(())
    }

    /// Adds an arc and returns its position.
    pub fn add_arc(&mut self, mut arc: Arc) -> usize {
        if self.has_usual_id(&arc) {
            arc.id = String::new();
        }
        self.arcs.push(arc);
        self.arcs.len() - 1
    }

    /// Adds an arc with a weight of the first class, and an id in PIPE's style (`P0 to T0`).
    pub fn arc(&mut self, kind: ArcKind, place: PlaceId, transition: TransitionId, weight: impl Into<Expr>) -> usize {
        let weights = vec![ClassWeight { class: ClassId::from_index(0), weight: weight.into() }];
        self.add_arc(Arc { id: String::new(), kind, place, transition, weights, path: Vec::new(), tagged: false })
    }

    /// The id of the arc at a position: its own id, or the usual id by its ends.
    pub fn arc_id(&self, position: usize) -> String {
        let arc = &self.arcs[position];
        if !arc.id.is_empty() {
            return arc.id.clone();
        }
        let place = self.places.get(arc.place.index()).map_or("?", |place| &place.id);
        let transition = self.transitions.get(arc.transition.index()).map_or("?", |transition| &transition.id);
        arc.kind.usual_id(place, transition)
    }

    /// Returns true if the own id of an arc is its usual id.
    fn has_usual_id(&self, arc: &Arc) -> bool {
        let (place, transition) = (self.places.get(arc.place.index()), self.transitions.get(arc.transition.index()));
        let ends = place.zip(transition).filter(|_| !arc.id.is_empty());
        ends.is_some_and(|(place, transition)| arc.id == arc.kind.usual_id(&place.id, &transition.id))
    }

    /// Adds an arc that consumes tokens.
    pub fn input(&mut self, place: PlaceId, transition: TransitionId, weight: impl Into<Expr>) -> usize {
        self.arc(ArcKind::Input, place, transition, weight)
    }

    /// Adds an arc that produces tokens.
    pub fn output(&mut self, transition: TransitionId, place: PlaceId, weight: impl Into<Expr>) -> usize {
        self.arc(ArcKind::Output, place, transition, weight)
    }

    /// Adds an arc that disables the transition when the place holds at least `weight` tokens.
    pub fn inhibitor(&mut self, place: PlaceId, transition: TransitionId, weight: impl Into<Expr>) -> usize {
        self.arc(ArcKind::Inhibitor, place, transition, weight)
    }

    /// Adds an arc that needs tokens but leaves them.
    pub fn test(&mut self, place: PlaceId, transition: TransitionId, weight: impl Into<Expr>) -> usize {
        self.arc(ArcKind::Test, place, transition, weight)
    }

    /// Adds a text to the drawing.
    pub fn add_annotation(&mut self, annotation: Annotation) {
        self.annotations.push(annotation);
    }

    /// Adds a state group.
    pub fn add_state_group(&mut self, group: StateGroup) {
        self.state_groups.push(group);
    }

    /// Returns an added place for modification; its id must not change.
    pub fn place_mut(&mut self, id: PlaceId) -> &mut Place {
        &mut self.places[id.index()]
    }

    /// Returns an added transition for modification; its id must not change.
    pub fn transition_mut(&mut self, id: TransitionId) -> &mut Transition {
        &mut self.transitions[id.index()]
    }

    /// Returns an added arc for modification.
    pub fn arc_mut(&mut self, position: usize) -> &mut Arc {
        &mut self.arcs[position]
    }

    /// Removes arcs by their positions; the remaining arcs move up.
    pub fn remove_arcs(&mut self, positions: &[usize]) {
        let removed: HashSet<usize> = positions.iter().copied().collect();
        let mut position = 0;
        self.arcs.retain(|_| {
            position += 1;
            !removed.contains(&(position - 1))
        });
    }

    /// Returns an added rate parameter for modification; its name must not change.
    pub fn parameter_mut(&mut self, id: ParameterId) -> &mut Parameter {
        &mut self.parameters[id.index()]
    }

    /// Looks up the parts that were added so far.
    pub fn names(&self) -> impl Names {
        let Self { places, classes, parameters, index, searches_names, .. } = self;
        Lookup { places, classes, parameters, index, searches_names: *searches_names }
    }

    /// Sets the name of the net.
    pub fn set_name(&mut self, name: impl Into<String>) {
        self.name = name.into();
    }

    /// The places that were added so far.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Number of rate parameters that were added so far.
    #[cfg(feature = "xml")]
    pub(crate) fn parameter_count(&self) -> usize {
        self.parameters.len()
    }

    /// Ids of the places and then of the transitions that were added so far.
    #[cfg(feature = "xml")]
    pub(crate) fn node_ids(&self) -> impl Iterator<Item = &str> {
        let transitions = self.transitions.iter().map(|transition| transition.id.as_str());
        self.places.iter().map(|place| place.id.as_str()).chain(transitions)
    }

    /// Looks up a place that was added so far, by its id.
    pub fn find_place(&self, id: &str) -> Option<PlaceId> {
        self.index.places.find(&self.places, id).map(PlaceId::from_index)
    }

    /// Looks up a transition that was added so far.
    pub fn find_transition(&self, id: &str) -> Option<TransitionId> {
        self.index.transition(&self.transitions, id)
    }

    /// Parses an expression over the parts that were added so far.
    ///
    /// # Errors
    ///
    /// The byte span of a syntax error, or of a name that was not added.
    pub fn expression(&self, text: &str) -> Result<Expr, ExprError> {
        expr::resolve(&expr::parse(text)?, &self.names())
    }

    /// The net, or everything that is wrong with it.
    ///
    /// # Errors
    ///
    /// Every problem, in the order of the parts.
    pub fn build(mut self) -> Result<Net, BuildError> {
        if self.classes.is_empty() {
            self.add_class(TokenClass::default_class());
        }
        Problems::check(self.problems())?;
        self.make_canonical();
        (0..self.places.len()).for_each(|i| self.index.places.add_name(&self.places, i));
        (0..self.transitions.len()).for_each(|i| self.index.transitions.add_name(&self.transitions, i));
        Ok(Net {
            name: self.name,
            classes: self.classes,
            parameters: self.parameters,
            places: self.places,
            transitions: self.transitions,
            arcs: self.arcs,
            annotations: self.annotations,
            state_groups: self.state_groups,
            index: self.index,
        })
    }

    /// Brings equal nets into the same form: a count for every class, no name that only repeats the id, and no usual id of an
    /// arc.
    fn make_canonical(&mut self) {
        for place in &mut self.places {
            place.initial.resize(self.classes.len(), 0);
            if place.name == place.id {
                place.name.clear();
            }
        }
        for transition in &mut self.transitions {
            if transition.name == transition.id {
                transition.name.clear();
            }
        }
        for i in 0..self.arcs.len() {
            if self.has_usual_id(&self.arcs[i]) {
                self.arcs[i].id = String::new();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::law::Law;
    use crate::net::problem::BuildProblem;

    #[test]
    fn reports_all_problems_at_once() {
        let mut b = NetBuilder::new("broken");
        let p = b.place("p", 3);
        b.place_mut(p).capacity = Some(2);
        b.place("p", 0);
        let t = b.transition("t", Timing::exponential(-1.0));
        b.transition("u", Timing::general(Law::Deterministic { delay: f64::NAN }));
        b.input(p, t, 1.5);
        b.output(t, PlaceId::from_index(9), 1.0);
        let problems = b.build().unwrap_err();
        let texts: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "place `p` is defined twice",
                "place `p` starts with 3 tokens, above its capacity of 2",
                "the rate of transition `t` is -1; it must be finite and not negative",
                "transition `u`: delay is NaN; it must be finite and at least 0",
                "the weight of arc `p to t` is 1.5; it must be a whole number below 2^31",
                "arc `t to ?` refers to a place that the net does not have",
            ]
        );
    }

    #[test]
    fn a_parameter_may_use_only_earlier_ones() {
        let mut b = NetBuilder::new("");
        b.parameter("a", 1.0);
        let twice = b.expression("2 * a").unwrap();
        b.add_parameter(Parameter { name: "b".into(), value: twice.clone(), position: None });
        assert!(b.clone().build().is_ok());
        b.parameter_mut(ParameterId::from_index(0)).value = twice;
        assert!(matches!(b.build().unwrap_err()[..], [BuildProblem::ParameterOrder { .. }]));
    }

    #[test]
    fn names_are_found_where_ids_are_not() {
        let mut b = NetBuilder::new("");
        let p = b.place("P0", 0);
        b.place_mut(p).name = "waiting room".into();
        let net = b.build().unwrap();
        assert_eq!(net.find_place("waiting room"), Some(p));
        let rate = net.expression("2*#(waiting room)").unwrap();
        assert_eq!(net.expression_text(&rate), "2 * #(P0)");
        assert_eq!(net.to_builder().build().unwrap(), net);
    }
}
