//! Reads nets of TAPAAL (`.tapn`): untimed nets of one or several components. All other kinds are refused.
//!
//! TAPAAL started as a fork of PIPE and keeps markings, weights and ages in attributes. Its nets are timed-arc
//! nets. A net whose ages are all `[0,inf)`, without age invariants, urgency and transport arcs, is an ordinary net.
//! Components share places and transitions by name; all other nodes get ids `component.id` if there are several
//! components.

use std::collections::{HashMap, HashSet};

use crate::formats::pipe::collect::Collector;
use crate::formats::pipe::instructions::Instructions;
use crate::formats::pipe::problem::Oddity;
use crate::formats::pipe::raw::{Component, RawArc, RawNet, RawNode, RawPlace, RawTransition, Tapaal};
use crate::formats::pipe::values::drawn;
use crate::formats::pipe::xml::{Element, Text};
use crate::net::{Annotation, Point};

const TIMED_ARC: &str = "timed-arc Petri nets (only TAPAAL nets without ages)";
const GAMES: &str = "games";
const COLOURED: &str = "coloured nets";
const STOCHASTIC: &str = "stochastic timed-arc Petri nets";

impl<'t> Collector<'_, '_, 't> {
    /// Records the start of each part of a net.
    pub(super) fn open_component(&mut self, net: Element<'_, 't>) {
        let name = net.attribute("id").map(|id| id.value.into_owned()).unwrap_or_default();
        self.net.tapaal.skipping = net.attribute("active").is_some_and(|active| active.value == "false");
        if self.net.tapaal.skipping {
            self.notes.odd(net.span(), Oddity::SeveralNets, || format!("component `{name}` is not active; ignored"));
            return;
        }
        let (places, transitions, arcs) = (self.net.places.len(), self.net.transitions.len(), self.net.arcs.len());
        self.net.tapaal.components.push(Component { name, places, transitions, arcs });
    }

    /// Reads an element outside the nets.
    pub(super) fn network(&mut self, element: Element<'_, 't>) {
        let name = || element.attribute("name").map(|name| name.value.into_owned()).unwrap_or_default();
        let yes = |key| element.attribute(key).map(|value| value.value == "true");
        match element.name() {
            "shared-place" => {
                self.net.traces.tapaal = true;
                self.age_invariant(element, &name());
                self.net.tapaal.shared_places.insert(name());
            }
            "shared-transition" => {
                self.net.traces.tapaal = true;
                self.urgency(element, &name());
                self.net.tapaal.shared_transitions.insert(name());
            }
            "constant" => {
                if let Some(value) = element.attribute("value") {
                    self.net.tapaal.constants.insert(name(), value);
                }
            }
            "feature" => {
                self.net.tapaal.stochastic = yes("isStochastic").or(Some(false));
                if yes("isGame") == Some(true) {
                    self.refuse(element.span(), "the net is a game".to_owned(), GAMES);
                }
                if yes("isColored") == Some(true) {
                    self.refuse(element.span(), "the net is coloured".to_owned(), COLOURED);
                }
            }
            _ => {}
        }
    }

    /// Adds a part of a net that TAPAAL wrote; returns `false` for any other element.
    pub(super) fn timed_arc_part(&mut self, element: Element<'_, 't>) -> bool {
        let has = |key| element.attribute(key).is_some();
        match element.name() {
            "place" if has("initialMarking") || has("invariant") => self.timed_arc_place(element),
            "transition" if has("positionX") || has("angle") => self.timed_arc_transition(element),
            "arc" if has("inscription") => self.timed_arc(element),
            "labels" if has("positionX") => self.label(element),
            _ => return false,
        }
        self.net.traces.tapaal = true;
        true
    }

    fn timed_arc_node(&self, element: Element<'_, 't>) -> Option<RawNode<'t>> {
        let id = element.attribute("id").or_else(|| element.attribute("name"))?;
        let name = element.attribute("name").filter(|name| name.value != id.value);
        let point = |x, y| {
            let (x, y) = (element.attribute(x), element.attribute(y));
            Some(Point { x: drawn(x.as_ref())?, y: drawn(y.as_ref())? })
        };
        Some(RawNode {
            id,
            tag: element.span(),
            name: name.map(|name| name.value).unwrap_or_default(),
            position: point("positionX", "positionY"),
            label_offset: point("nameOffsetX", "nameOffsetY").unwrap_or_default(),
            instructions: Instructions::default(),
        })
    }

    fn age_invariant(&mut self, element: Element<'_, 't>, id: &str) {
        let Some(invariant) = element.attribute("invariant") else { return };
        if !matches!(&*invariant.value.replace(' ', ""), "" | "<inf") {
            let what = format!("place `{id}` has the age invariant `{}`", invariant.value);
            self.refuse(invariant.span, what, TIMED_ARC);
        }
    }

    fn urgency(&mut self, element: Element<'_, 't>, id: &str) {
        if element.attribute("urgent").is_some_and(|urgent| urgent.value == "true") {
            self.refuse(element.span(), format!("transition `{id}` is urgent"), TIMED_ARC);
        }
        if let Some(player) = element.attribute("player").filter(|player| player.value != "0") {
            self.refuse(player.span, format!("transition `{id}` belongs to player {}", player.value), GAMES);
        }
    }

    fn timed_arc_place(&mut self, element: Element<'_, 't>) {
        let Some(node) = self.timed_arc_node(element) else { return };
        self.age_invariant(element, &node.id.value);
        let sort = element.child("type").and_then(|sort| sort.child_value("text").or_else(|| sort.value()));
        if let Some(sort) = sort.filter(|sort| !sort.value.eq_ignore_ascii_case("dot")) {
            self.refuse(sort.span, format!("place `{}` has the colour type `{}`", node.id.value, sort.value), COLOURED);
        }
        self.net.places.push(RawPlace { node, marking: element.attribute("initialMarking"), capacity: None });
    }

    fn timed_arc_transition(&mut self, element: Element<'_, 't>) {
        let Some(node) = self.timed_arc_node(element) else { return };
        self.urgency(element, &node.id.value);
        if let Some(distribution) = element.attribute("distribution") {
            let found = (distribution.span, format!("transition `{}` has a delay distribution", node.id.value));
            self.net.tapaal.distribution.get_or_insert(found);
        }
        let angle = drawn(element.attribute("angle").as_ref()).unwrap_or(0.0).clamp(-360.0, 360.0);
        #[expect(clippy::cast_possible_truncation, reason = "an angle in degrees")]
        let orientation = angle as i32;
        self.net.transitions.push(RawTransition {
            node,
            orientation,
            rate: None,
            rate_definition: None,
            timed: None,
            infinite_server: false,
            priority: None,
            fixed_delay: None,
            guard: None,
            tool: None,
        });
    }

    fn timed_arc(&mut self, element: Element<'_, 't>) {
        let (Some(source), Some(target)) = (element.attribute("source"), element.attribute("target")) else { return };
        let id = element.attribute("id");
        let label = || id.as_ref().map_or_else(String::new, |id| id.value.clone().into_owned());
        let kind = element.attribute("type");
        let ages = element.attribute("inscription");
        match kind.as_ref().map(|kind| &*kind.value) {
            Some("transport") => {
                self.refuse(element.span(), format!("arc `{}` is a transport arc", label()), TIMED_ARC)
            }
            Some("normal") | None => {}
            Some(_) => {
                if let Some(ages) =
                    ages.as_ref().filter(|ages| !matches!(&*ages.value.replace(' ', ""), "" | "[0,inf)"))
                {
                    let what = format!("arc `{}` has the age interval `{}`", label(), ages.value);
                    self.refuse(ages.span.clone(), what, TIMED_ARC);
                }
            }
        }
        let number = |text: &Text<'_>| text.value.bytes().all(|byte| byte.is_ascii_digit());
        let weight = element.attribute("weight").or_else(|| ages.filter(number));
        let weight = weight.map(|weight| self.net.tapaal.constants.get(&*weight.value).cloned().unwrap_or(weight));
        let (tag, instructions) = (element.span(), Instructions::default());
        let path = Vec::new();
        self.net.arcs.push(RawArc {
            id,
            tag,
            source,
            target,
            kind: kind.map(Box::new),
            weight,
            path,
            tagged: false,
            instructions,
        });
    }

    fn label(&mut self, element: Element<'_, 't>) {
        let number = |key| drawn(element.attribute(key).as_ref()).unwrap_or(0.0);
        self.net.annotations.push(Annotation {
            position: Point { x: number("positionX"), y: number("positionY") },
            size: Point { x: number("width"), y: number("height") },
            border: element.attribute("border").is_none_or(|border| border.value == "true"),
            text: element.text().map(|text| text.value.into_owned()).unwrap_or_default(),
        });
    }

    /// Joins the components of a TAPAAL file into one net; call it after the last item.
    pub(super) fn join_components(&mut self) {
        if !self.net.traces.tapaal {
            return;
        }
        let said = self.net.tapaal.stochastic;
        if let Some((span, what)) = self.net.tapaal.distribution.take().filter(|_| said != Some(false)) {
            self.refuse(span, what, STOCHASTIC);
        }
        self.net.nets = 1;
        if self.net.tapaal.components.len() > 1 {
            let tapaal = std::mem::take(&mut self.net.tapaal);
            join(&mut self.net, &tapaal);
        }
    }
}

/// Prefixes the ids of parts with their component, and keeps only the first copy of each shared place and transition.
fn join<'t>(net: &mut RawNet<'t>, tapaal: &Tapaal<'t>) {
    let component = |index: usize, start: fn(&Component) -> usize| {
        let after = tapaal.components.partition_point(|component| start(component) <= index);
        &*tapaal.components[after.max(1) - 1].name
    };
    let qualified = |component: &str, id: &str| format!("{component}.{id}");
    let mut names: HashMap<(String, String), String> = HashMap::new();
    let mut rename = |node: &mut RawNode<'t>, component: &str, shared: &HashSet<String>| {
        let own = if node.name.is_empty() { &*node.id.value } else { &*node.name };
        let name = if shared.contains(own) { own.to_owned() } else { qualified(component, &node.id.value) };
        names.insert((component.to_owned(), node.id.value.clone().into_owned()), name.clone());
        node.id.value = name.into();
    };
    for (i, place) in net.places.iter_mut().enumerate() {
        rename(&mut place.node, component(i, |c| c.places), &tapaal.shared_places);
    }
    for (i, transition) in net.transitions.iter_mut().enumerate() {
        rename(&mut transition.node, component(i, |c| c.transitions), &tapaal.shared_transitions);
    }
    for (i, arc) in net.arcs.iter_mut().enumerate() {
        let component = component(i, |c| c.arcs);
        for end in [&mut arc.source, &mut arc.target] {
            if let Some(name) = names.get(&(component.to_owned(), end.value.clone().into_owned())) {
                end.value = name.clone().into();
            }
        }
        if let Some(id) = &mut arc.id {
            id.value = qualified(component, &id.value).into();
        }
    }
    let mut kept = HashSet::new();
    net.places
        .retain(|p| !tapaal.shared_places.contains(&*p.node.id.value) || kept.insert(p.node.id.value.to_string()));
    let mut kept = HashSet::new();
    let shared = &tapaal.shared_transitions;
    net.transitions.retain(|t| !shared.contains(&*t.node.id.value) || kept.insert(t.node.id.value.to_string()));
}
