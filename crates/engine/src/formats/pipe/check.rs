//! Errors that each PIPE version would make with a net, predicted from the net.
//!
//! The rules come from running both programs; they apply to the net as PIPE would load it from its own
//! elements, not to the workarounds that [`write()`](crate::formats::pipe::write()) writes into a
//! file.

use std::collections::{BTreeMap, HashMap, HashSet};

use petgraph::algo::toposort;
use petgraph::graph::DiGraph;

use crate::formats::pipe::finding::{PipeFinding, PipeVersion, Severity};
use crate::formats::pipe::grammar;
use crate::formats::pipe::loss::WriteWarning;
use crate::formats::pipe::options::{ReadOptions, Reading};
use crate::formats::pipe::read::read;
use crate::formats::pipe::write::{Streamed, Written};
use crate::net::expr::{BinaryOp, Expr};
use crate::net::{
    Arc, ArcKind, ClassId, ClassWeight, Delay, Memory, Net, ParameterId, PartRef, PlaceId, Servers, Timing,
    TransitionId,
};

/// All errors that PIPE 4.3 and PIPE 5 would make with a net: by version, then in the order of the rules.
pub fn pipe_report(net: &Net) -> Vec<PipeFinding> {
    let mut check = Check { net, shared_names: shared_names(net), findings: Vec::new() };
    check.classes();
    check.ids();
    check.places();
    check.parameters();
    check.transitions();
    check.same_effects();
    check.arcs();
    check.parallel_arcs();
    check.net_as_a_whole();
    check.findings.sort_by_key(|finding| finding.version);
    check.findings
}

/// Errors that PIPE 4.3 and PIPE 5 would make with a file that was written for them. Like [`pipe_report`], but for the
/// net that PIPE loads from the elements of the file.
///
/// Findings about parts that already have a writer's warning, and notes, are omitted.
pub fn written_report(written: &Written) -> Vec<PipeFinding> {
    let options = ReadOptions { instructions: Reading::Pipe43, ..ReadOptions::default() };
    let Ok(read) = read(written.xml.as_bytes(), &options) else { return Vec::new() };
    not_known(pipe_report(&read.net), &written.warnings)
}

/// As [`written_report`], for a net that PIPE loads as it is ([`Streamed::is_plain`]), so that the file need not be read.
pub fn plain_report(net: &Net, streamed: &Streamed) -> Vec<PipeFinding> {
    not_known(pipe_report(net), &streamed.warnings)
}

/// Removes notes, and findings about parts that have a warning.
fn not_known(mut report: Vec<PipeFinding>, warnings: &[WriteWarning]) -> Vec<PipeFinding> {
    let known: HashSet<PartRef> = warnings.iter().filter_map(|warning| warning.part).collect();
    report.retain(|finding| finding.severity > Note && finding.part.is_none_or(|part| !known.contains(&part)));
    report
}

struct Check<'n> {
    net: &'n Net,
    /// Names of several places, in small letters.
    shared_names: HashSet<String>,
    findings: Vec<PipeFinding>,
}

use PipeVersion::{Pipe5, Pipe43};
use Severity::{Note, Refused, Wrong};

impl Check<'_> {
    fn add(&mut self, version: PipeVersion, severity: Severity, part: impl Into<Option<PartRef>>, message: String) {
        self.findings.push(PipeFinding { version, severity, part: part.into(), message });
    }

    fn both(&mut self, severity: Severity, part: PartRef, message: &str) {
        self.add(Pipe43, severity, part, message.to_owned());
        self.add(Pipe5, severity, part, message.to_owned());
    }

    fn classes(&mut self) {
        let classes = self.net.classes();
        if classes.len() > 1 {
            let message = format!(
                "the net has {} token classes; GSPN analysis counts only the first class of each place",
                classes.len()
            );
            self.add(Pipe43, Wrong, None, message);
        }
        for (i, class) in classes.iter().enumerate().filter(|(_, c)| !c.enabled) {
            let message = format!("token class `{}` is not enabled, so GSPN analysis ends with an error", class.id);
            self.add(Pipe43, Refused, PartRef::Class(ClassId::from_index(i)), message);
        }
    }

    fn ids(&mut self) {
        let mut folded: HashMap<String, &str> = HashMap::new();
        let places = self.net.places().iter().enumerate();
        let places = places.map(|(i, p)| (p.id.as_str(), PartRef::Place(PlaceId::from_index(i))));
        let transitions = self.net.transitions().iter().enumerate();
        let transitions = transitions.map(|(i, t)| (t.id.as_str(), PartRef::Transition(TransitionId::from_index(i))));
        for (id, part) in places.chain(transitions) {
            match folded.insert(id.to_lowercase(), id) {
                Some(other) if other == id => {
                    let message =
                        format!("`{id}` is both a place and a transition; arcs are connected to the wrong node");
                    self.both(Wrong, part, &message);
                }
                Some(other) => {
                    let message = format!(
                        "ids `{other}` and `{id}` differ only in letter case; arcs of both are connected to the later node"
                    );
                    self.add(Pipe43, Wrong, part, message);
                }
                None => {}
            }
        }
    }

    fn places(&mut self) {
        for (i, place) in self.net.places().iter().enumerate() {
            let part = PartRef::Place(PlaceId::from_index(i));
            if place.position.is_none() {
                let message = format!("place `{}` has no position, so the file is refused", place.id);
                self.add(Pipe5, Refused, part, message);
            }
            if place.capacity == Some(0) {
                self.both(Wrong, part, &format!("place `{}` has capacity 0, which is read as no limit", place.id));
            }
            if place.initial.iter().chain(&place.capacity).any(|n| i32::try_from(*n).is_err()) {
                let message = format!("place `{}` has more than 2147483647 tokens or a larger capacity", place.id);
                self.both(Refused, part, &message);
            }
        }
    }

    fn parameters(&mut self) {
        for (i, parameter) in self.net.parameters().iter().enumerate() {
            let part = PartRef::Parameter(ParameterId::from_index(i));
            if parameter.value.as_number().is_none() {
                let message = format!(
                    "rate parameter `{}` is not a constant number, so loading stops and the net stays empty",
                    parameter.name
                );
                self.add(Pipe43, Refused, part, message);
                self.expression(part, &format!("rate parameter `{}`", parameter.name), &parameter.value, Pipe5);
            }
        }
        for (i, annotation) in self.net.annotations().iter().enumerate() {
            let (at, size) = (annotation.position, annotation.size);
            if [at.x, at.y, size.x, size.y].iter().any(|v| v.fract() != 0.0) {
                let message = format!("annotation {} has decimal coordinates, so loading stops", i + 1);
                self.add(Pipe43, Refused, None, message.clone());
                self.add(Pipe5, Refused, None, message);
            }
        }
    }

    fn transitions(&mut self) {
        for (i, transition) in self.net.transitions().iter().enumerate() {
            let part = PartRef::Transition(TransitionId::from_index(i));
            let id = &transition.id;
            let what = format!("the rate of transition `{id}`");
            match &transition.timing {
                Timing::Immediate { weight, .. } => self.rate(part, &what, weight),
                Timing::Timed { delay, servers, memory } => {
                    match delay {
                        Delay::Exponential { rate } => self.rate(part, &what, rate),
                        Delay::General(_) => {
                            let message = format!(
                                "the delay of transition `{id}` is not exponential; PIPE supports only exponential delays"
                            );
                            self.both(Wrong, part, &message);
                            if *memory == Memory::Age {
                                self.both(
                                    Wrong,
                                    part,
                                    &format!("transition `{id}` has age memory, which PIPE does not support"),
                                );
                            }
                        }
                    }
                    self.servers(part, id, *servers);
                    if transition.unused_priority.is_some_and(|p| p != 1) {
                        let message = format!("the priority of timed transition `{id}` is ignored");
                        self.both(Note, part, &message);
                    }
                }
            }
            if transition.position.is_none() {
                let message = format!("transition `{id}` has no position, so the file is refused");
                self.add(Pipe5, Refused, part, message);
            }
        }
    }

    fn servers(&mut self, part: PartRef, id: &str, servers: Servers) {
        match servers {
            Servers::Single | Servers::Limited(1) => {}
            Servers::Infinite => {
                let message = format!(
                    "transition `{id}` has infinitely many servers: its rate is ignored and firing destroys tokens"
                );
                self.add(Pipe43, Wrong, part, message);
                let message = format!(
                    "transition `{id}` has infinitely many servers: state probabilities are computed for a single server"
                );
                self.add(Pipe5, Wrong, part, message);
            }
            Servers::Limited(most) => {
                self.both(Wrong, part, &format!("transition `{id}` has {most} servers, which PIPE does not support"));
            }
        }
    }

    fn rate(&mut self, part: PartRef, what: &str, rate: &Expr) {
        if rate.as_number().is_some() {
            return;
        }
        self.expression(part, what, rate, Pipe43);
        self.expression(part, what, rate, Pipe5);
        if grammar::may_be_negative(rate) {
            let message = format!(
                "{what} contains a subtraction: if its value falls below 0, steady-state analysis does not finish"
            );
            self.add(Pipe43, Note, part, message);
            self.add(
                Pipe5,
                Note,
                part,
                format!("{what} contains a subtraction: a value below 0 is refused as invalid"),
            );
        }
    }

    fn expression(&mut self, part: PartRef, what: &str, expr: &Expr, version: PipeVersion) {
        for (severity, obstacle) in grammar::obstacles(self.net, &self.shared_names, expr, version) {
            self.add(version, severity, part, format!("{what} {obstacle}"));
        }
    }

    /// PIPE 4.3 sums the rates of all transitions that lead to the same marking, but adds this sum once for each of
    /// these transitions.
    fn same_effects(&mut self) {
        let mut effects = vec![BTreeMap::new(); self.net.transitions().len()];
        let mut known = vec![true; effects.len()];
        for arc in self.net.arcs() {
            let t = arc.transition.index();
            let sign = match arc.kind {
                ArcKind::Input => -1.0,
                ArcKind::Output => 1.0,
                ArcKind::Inhibitor | ArcKind::Test => continue,
            };
            for weight in &arc.weights {
                match weight.weight.as_number() {
                    Some(w) => *effects[t].entry((arc.place, weight.class)).or_insert(0.0) += sign * w,
                    None => known[t] = false,
                }
            }
        }
        let mut first: BTreeMap<Vec<_>, usize> = BTreeMap::new();
        for (t, effect) in effects.iter().enumerate().filter(|(t, _)| known[*t]) {
            let key: Vec<_> = effect.iter().filter(|(_, d)| **d != 0.0).map(|(k, d)| (*k, d.to_bits())).collect();
            if key.is_empty() {
                continue;
            }
            if let Some(other) = first.get(&key) {
                let message = format!(
                    "transitions `{}` and `{}` change the marking identically; when both are enabled, the sum of their rates counts twice",
                    self.net.transitions()[*other].id,
                    self.net.transitions()[t].id
                );
                self.add(Pipe43, Wrong, PartRef::Transition(TransitionId::from_index(t)), message);
            } else {
                first.insert(key, t);
            }
        }
    }

    fn arcs(&mut self) {
        for (i, arc) in self.net.arcs().iter().enumerate() {
            let part = PartRef::Arc(i);
            let id = self.net.arc_id(arc);
            let all_zero = arc.weights.iter().all(|w| w.weight.as_number() == Some(0.0));
            match arc.kind {
                ArcKind::Test => {
                    self.both(Wrong, part, &format!("test arc `{id}` cannot be distinguished from an ordinary arc"))
                }
                ArcKind::Inhibitor => {
                    if arc.weights.iter().any(|w| w.weight.as_number() != Some(1.0)) {
                        let message = format!("the weight of inhibitor arc `{id}` is treated as 1");
                        self.both(Wrong, part, &message);
                    }
                    let coloured = |w: &ClassWeight| w.class.index() > 0 && w.weight.as_number() != Some(0.0);
                    if arc.weights.iter().any(coloured) {
                        let transition = &self.net.transition(arc.transition).id;
                        let message = format!(
                            "inhibitor arc `{id}` does not test the first token class, so `{transition}` is never enabled"
                        );
                        self.add(Pipe5, Wrong, part, message);
                    }
                }
                ArcKind::Input | ArcKind::Output if all_zero => {
                    let message = format!("arc `{id}` has weight 0, which is treated as 1");
                    self.add(Pipe43, Wrong, part, message);
                    if arc.kind == ArcKind::Input {
                        let message = format!(
                            "arc `{id}` has weight 0, but its transition is enabled only if the place is not empty"
                        );
                        self.add(Pipe5, Wrong, part, message);
                    }
                }
                ArcKind::Input | ArcKind::Output => {}
            }
            if arc.kind != ArcKind::Inhibitor {
                self.weights(part, arc);
            }
            if arc.tagged {
                self.add(Pipe5, Note, part, format!("the tag of arc `{id}` is lost on saving"));
            }
        }
    }

    fn weights(&mut self, part: PartRef, arc: &Arc) {
        for weight in arc.weights.iter().filter(|w| w.weight.as_number().is_none()) {
            let what = format!("the weight of arc `{}`", self.net.arc_id(arc));
            self.expression(part, &what, &weight.weight, Pipe43);
            self.expression(part, &what, &weight.weight, Pipe5);
            if grammar::has(&weight.weight, BinaryOp::Divide) {
                let message =
                    format!("{what} contains a division; its result is truncated, not rounded, to a whole number");
                self.add(Pipe5, Note, part, message);
                if !grammar::rounds(&weight.weight) {
                    let message =
                        format!("{what} contains a division without `floor` or `ceil`, so the weight is refused");
                    self.add(Pipe43, Refused, part, message);
                }
            }
        }
    }

    fn parallel_arcs(&mut self) {
        let mut seen: HashMap<(PlaceId, TransitionId, ArcKind), usize> = HashMap::new();
        for (i, arc) in self.net.arcs().iter().enumerate() {
            if let Some(first) = seen.insert((arc.place, arc.transition, arc.kind), i) {
                let message = format!(
                    "arcs `{}` and `{}` are parallel; only the weight of the last one counts",
                    self.net.arc_id(&self.net.arcs()[first]),
                    self.net.arc_id(arc)
                );
                self.both(Wrong, PartRef::Arc(i), &message);
            }
        }
    }

    fn net_as_a_whole(&mut self) {
        if !self.net.state_groups().is_empty() {
            self.add(Pipe5, Note, None, "state groups are ignored and lost on saving".to_owned());
        }
        if immediate_cycle(self.net) {
            let message =
                "immediate transitions form a cycle; if they fire again and again, analysis gives up (`timeless trap`)";
            self.add(Pipe43, Note, None, format!("{message} after 100000 steps"));
            self.add(Pipe5, Note, None, format!("{message} after 1000 steps"));
        }
        let timed = self.net.transitions().iter().filter(|t| !t.is_immediate());
        let rates = timed.filter_map(|t| match &t.timing {
            Timing::Timed { delay: Delay::Exponential { rate }, .. } => rate.as_number().filter(|r| *r > 0.0),
            _ => None,
        });
        let (low, high) = rates.fold((f64::INFINITY, 0.0_f64), |(low, high), r| (low.min(r), high.max(r)));
        if high > STIFF * low {
            let message = format!(
                "rates range from {low} to {high}: PIPE's solver stops early on such nets, and its results may be very inaccurate"
            );
            self.add(Pipe43, Note, None, message.clone());
            self.add(Pipe5, Note, None, message);
        }
    }
}

/// Minimum ratio of rates at which PIPE's solvers were observed to stop too early.
const STIFF: f64 = 1e4;

fn shared_names(net: &Net) -> HashSet<String> {
    let mut seen = HashSet::new();
    net.places().iter().map(|p| p.label().to_lowercase()).filter(|name| !seen.insert(name.clone())).collect()
}

/// Returns true if a token can complete a cycle in zero time.
fn immediate_cycle(net: &Net) -> bool {
    let immediate = net.arcs().iter().filter(|arc| net.transition(arc.transition).is_immediate());
    let edges = immediate.filter_map(|arc| {
        let (place, transition) = (net.transitions().len() + arc.place.index(), arc.transition.index());
        match arc.kind {
            ArcKind::Input => Some((place, transition)),
            ArcKind::Output => Some((transition, place)),
            ArcKind::Inhibitor | ArcKind::Test => None,
        }
    });
    // `is_cyclic_directed` is recursive, and a net can be a long chain
    toposort(&DiGraph::<(), (), usize>::from_edges(edges), None).is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::pipe::corpus::{probes, shared_nets};
    use crate::formats::pipe::{ReadOptions, read};
    use crate::net::NetBuilder;

    fn messages(net: &Net, version: PipeVersion, least: Severity) -> Vec<String> {
        let report = pipe_report(net).into_iter();
        report.filter(|f| f.version == version && f.severity >= least).map(|f| f.message).collect()
    }

    #[test]
    fn nets_that_pipe_computes_wrongly_are_detected() {
        let Some(nets) = shared_nets() else { return };
        let wrong = [
            ("s01_infserver", Pipe43, "its rate is ignored"),
            ("s01_infserver", Pipe5, "computed for a single server"),
            ("s02_inhibitor_w2", Pipe43, "inhibitor arc `inh` is treated as 1"),
            ("s02_inhibitor_w2", Pipe5, "inhibitor arc `inh` is treated as 1"),
            ("s03_parallel_same_effect", Pipe43, "counts twice"),
            ("s06_weight0", Pipe43, "which is treated as 1"),
            ("s06_weight0", Pipe5, "only if the place is not empty"),
            ("s09_dup_arcs", Pipe43, "are parallel"),
            ("s15_funcrate_name", Pipe43, "name"),
            ("s19_funcs", Pipe5, "max"),
            ("s26_inhibitor_colour", Pipe43, "2 token classes"),
        ];
        let nets: HashMap<_, _> = probes(&nets).into_iter().collect();
        for (probe, version, message) in wrong {
            let net = read(&std::fs::read(&nets[probe]).unwrap(), &ReadOptions::default()).unwrap().net;
            let found = messages(&net, version, Wrong);
            assert!(found.iter().any(|m| m.contains(message)), "{probe} {version:?}: {found:?}");
        }
        for probe in ["s11_imm_weights", "s12_imm_priority", "s14_funcrate", "s28_ring4x6", "canonical_writer"] {
            let net = read(&std::fs::read(&nets[probe]).unwrap(), &ReadOptions::default()).unwrap().net;
            let found: Vec<_> = [Pipe43, Pipe5].into_iter().flat_map(|v| messages(&net, v, Wrong)).collect();
            assert!(found.is_empty(), "{probe}: {found:?}");
        }
    }

    #[test]
    fn case_collisions_and_shared_ids_are_found() {
        let mut b = NetBuilder::new("");
        b.place("a", 0);
        b.place("A", 0);
        b.transition("b", Timing::immediate(1.0, 1));
        b.place("b", 0);
        let net = b.build().unwrap();
        let found = messages(&net, Pipe43, Wrong);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("differ only in letter case") && found[1].contains("both a place and a transition"));
    }

    #[test]
    fn cycles_of_immediate_transitions_are_noted() {
        let mut b = NetBuilder::new("");
        let p = b.place("p", 1);
        let t = b.transition("t", Timing::immediate(1.0, 1));
        b.input(p, t, 1.0);
        b.output(t, p, 1.0);
        assert!(messages(&b.build().unwrap(), Pipe5, Note).iter().any(|m| m.contains("timeless trap")));
    }
}
