//! The automata of a composition: their variables and locations as places, and the edges that happen together.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::formats::jani::fail::{Parsed, expression, fail, list, part, text};
use crate::formats::jani::scope::{LocationValue, Named, Scope, named};
use crate::net::{NetBuilder, Place, PlaceId};

/// Maximum number of transitions of the net for a model.
pub(super) const MOST_TRANSITIONS: usize = 200_000;

/// An automaton of the composition.
#[derive(Debug)]
pub(super) struct Instance<'j> {
    pub(super) name: String,
    edges: &'j [Value],
    /// The place of each location; none if there is only one location.
    locations: HashMap<&'j str, Option<PlaceId>>,
}

impl<'j> Instance<'j> {
    /// The place of the location that `named` refers to.
    pub(super) fn location(&self, named: &'j Value) -> Parsed<'j, Option<PlaceId>> {
        let name = text(named, "location")?;
        self.locations
            .get(name)
            .copied()
            .map_or_else(|| fail(named, format!("`{}` has no location `{name}`", self.name)), Ok)
    }
}

/// Synchronised edges of different automata, and the name of their action.
#[derive(Debug)]
pub(super) struct Step<'j> {
    pub(super) name: String,
    /// Automaton and edge.
    pub(super) edges: Vec<(usize, &'j Value)>,
}

/// Creates the places of the model: global variables, then the places of each automaton and its locations.
pub(super) fn places<'j>(
    model: &'j Value,
    scope: &mut Scope<'j>,
    net: &mut NetBuilder,
) -> Parsed<'j, Vec<Instance<'j>>> {
    let mut names = HashSet::new();
    scope.globals = variables(list(model, "variables")?, "", scope, &mut names, net)?;
    let automata = named(model, "automata")?;
    let mut instances: Vec<Instance<'j>> = Vec::new();
    for (at, element) in list(part(model, "system")?, "elements")?.iter().enumerate() {
        let name = text(element, "automaton")?;
        let Some(automaton) = automata.get(name) else {
            return fail(element, format!("there is no automaton `{name}`"));
        };
        if !list(element, "input-enable")?.is_empty() {
            return fail(element, "`input-enable` is not supported");
        }
        let again = instances.iter().any(|instance| instance.name == name);
        let name = if again { format!("{name}_{}", at + 1) } else { name.to_owned() };
        let locals = variables(list(automaton, "variables")?, &name, scope, &mut names, net)?;
        scope.locals.push(locals);
        scope.local_functions.push(self::named(automaton, "functions")?);
        let locations = locations(automaton, &name, at, scope, &mut names, net)?;
        instances.push(Instance { name, edges: list(automaton, "edges")?, locations });
    }
    if instances.is_empty() {
        return fail(part(model, "system")?, "the composition has no automaton");
    }
    Ok(instances)
}

/// A name that no place has yet.
fn fresh(name: &str, owner: &str, names: &mut HashSet<String>) -> String {
    let mut id = name.to_owned();
    if names.contains(&id) {
        id = format!("{owner}.{name}");
    }
    while !names.insert(id.clone()) {
        id.push('_');
    }
    id
}

fn variables<'j>(
    declarations: &'j [Value],
    owner: &str,
    scope: &Scope<'j>,
    names: &mut HashSet<String>,
    net: &mut NetBuilder,
) -> Parsed<'j, HashMap<&'j str, Named<'j>>> {
    let mut found = HashMap::new();
    for declaration in declarations {
        let name = text(declaration, "name")?;
        let transient = declaration.get("transient").is_some_and(|transient| *transient == true);
        let variable = if transient {
            Named::Transient(declaration)
        } else {
            let (place, lower) = bounded(declaration, name, scope)?;
            let id = fresh(name, owner, names);
            Named::Place { place: net.add_place(Place { id, ..place }), lower: lower as f64 }
        };
        if found.insert(name, variable).is_some() {
            return fail(declaration, format!("variable `{name}` is declared twice"));
        }
    }
    Ok(found)
}

/// The place of a variable, without its id, and the variable's lower bound.
fn bounded<'j>(declaration: &'j Value, name: &str, scope: &Scope<'j>) -> Parsed<'j, (Place, i64)> {
    let kind = part(declaration, "type")?;
    let is_bounded = kind.get("kind").is_some_and(|kind| kind == "bounded");
    let (lower, upper) = if kind == "bool" {
        (0, 1)
    } else if is_bounded && kind.get("base").is_some_and(|base| base == "int") {
        (scope.whole(part(kind, "lower-bound")?)?, scope.whole(part(kind, "upper-bound")?)?)
    } else {
        let kind = kind.as_str().or_else(|| kind.get("kind")?.as_str()).unwrap_or("unknown");
        return fail(
            declaration,
            format!("variable `{name}` has the type `{kind}`; variables must be `bool` or integers with bounds"),
        );
    };
    let Some(initial) = declaration.get("initial-value") else {
        return fail(declaration, format!("variable `{name}` has no initial value"));
    };
    let value = scope.whole(initial)?;
    let whole = |number: i64| u32::try_from(number).ok();
    let (Some(most), Some(tokens)) = (whole(upper - lower), whole(value - lower)) else {
        return fail(
            declaration,
            format!("variable `{name}` starts with {value}, outside its bounds {lower} and {upper}"),
        );
    };
    if tokens > most {
        return fail(initial, format!("variable `{name}` starts with {value}, outside its bounds {lower} and {upper}"));
    }
    Ok((Place { initial: vec![tokens], capacity: Some(most), ..Place::default() }, lower))
}

fn locations<'j>(
    automaton: &'j Value,
    owner: &str,
    instance: usize,
    scope: &mut Scope<'j>,
    names: &mut HashSet<String>,
    net: &mut NetBuilder,
) -> Parsed<'j, HashMap<&'j str, Option<PlaceId>>> {
    let all = list(automaton, "locations")?;
    let initial = list(automaton, "initial-locations")?;
    let [initial] = initial else {
        return fail(automaton, format!("automaton `{owner}` must have one initial location, not {}", initial.len()));
    };
    let mut found = HashMap::new();
    for location in all {
        let name = text(location, "name")?;
        if let Some(invariant) = expression(location, "time-progress")?
            && *invariant != true
        {
            return fail(invariant, "time-progress conditions are not supported");
        }
        let place = (all.len() > 1).then(|| {
            let id = fresh(&format!("{owner}.{name}"), owner, names);
            let tokens = u32::from(*initial == name);
            net.add_place(Place { id, initial: vec![tokens], capacity: Some(1), ..Place::default() })
        });
        if found.insert(name, place).is_some() {
            return fail(location, format!("location `{name}` is defined twice"));
        }
        for value in list(location, "transient-values")? {
            let entry = LocationValue { location: place, value: part(value, "value")?, instance };
            scope.location_values.entry(text(value, "ref")?).or_default().push(entry);
        }
    }
    if !initial.as_str().is_some_and(|name| found.contains_key(name)) {
        return fail(initial, format!("automaton `{owner}` has no such location"));
    }
    Ok(found)
}

/// Every combination of edges that may happen together.
pub(super) fn steps<'j>(model: &'j Value, instances: &[Instance<'j>]) -> Parsed<'j, Vec<Step<'j>>> {
    let system = part(model, "system")?;
    let mut steps = Vec::new();
    for (at, instance) in instances.iter().enumerate() {
        for (i, edge) in instance.edges.iter().enumerate().filter(|(_, edge)| action(edge).is_none()) {
            steps.push(Step { name: format!("{}_{}", instance.name, i + 1), edges: vec![(at, edge)] });
        }
    }
    if instances.len() == 1 && system.get("syncs").is_none() {
        for edge in instances[0].edges {
            steps.extend(action(edge).map(|name| Step { name: name.to_owned(), edges: vec![(0, edge)] }));
        }
    }
    for sync in list(system, "syncs")? {
        synchronised(sync, instances, &mut steps)?;
    }
    Ok(steps)
}

/// The action of an edge; none if it is not synchronised.
fn action(edge: &Value) -> Option<&str> {
    edge.get("action")?.as_str()
}

/// The combinations of one synchronisation vector.
fn synchronised<'j>(sync: &'j Value, instances: &[Instance<'j>], steps: &mut Vec<Step<'j>>) -> Parsed<'j, ()> {
    let actions = list(sync, "synchronise")?;
    if actions.len() != instances.len() {
        let reason = format!("{} entries for {} automata; there must be one for each", actions.len(), instances.len());
        return fail(sync, reason);
    }
    let mut combinations: Vec<Vec<(usize, &'j Value)>> = vec![Vec::new()];
    let mut names: Vec<&str> = Vec::new();
    for (at, action) in actions.iter().enumerate().filter(|(_, action)| !action.is_null()) {
        let Some(action) = action.as_str() else { return fail(action, "an action must be a string") };
        names.push(action);
        let edges = instances[at].edges.iter().filter(|edge| self::action(edge) == Some(action));
        let edges: Vec<&Value> = edges.collect();
        if combinations.len() * edges.len() + steps.len() > MOST_TRANSITIONS {
            return fail(sync, format!("the model needs more than {MOST_TRANSITIONS} transitions, the limit"));
        }
        combinations = combinations
            .iter()
            .flat_map(|before| edges.iter().map(move |edge| before.iter().copied().chain([(at, *edge)]).collect()))
            .collect();
    }
    let Some(first) = names.first() else { return fail(sync, "no automaton participates") };
    let name = sync.get("result").and_then(Value::as_str).unwrap_or(first);
    steps.extend(combinations.into_iter().map(|edges| Step { name: name.to_owned(), edges }));
    Ok(())
}
