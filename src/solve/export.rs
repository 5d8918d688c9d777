//! State spaces for other programs: Graphviz DOT, Matrix Market, the explicit files of PRISM.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use crate::compile::Program;
use crate::semantics::{Candidates, fire, rate};
use crate::solve::chain::Chain;
use crate::solve::explore_error::ExploreError;
use crate::solve::space::StateSpace;
use crate::solve::store::Store;
use crate::solve::vanish::{Rules, Settling};

/// Why a state space cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DrawError {
    /// More markings than a picture can show.
    #[error("the graph has more than {limit} markings, too many to draw")]
    TooLarge {
        /// Most markings.
        limit: usize,
    },
    /// What makes no sense in a marking.
    #[error(transparent)]
    Explore(#[from] ExploreError),
}

/// What a drawing shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drawing {
    /// Whether vanishing markings are shown too.
    pub vanishing: bool,
    /// Most markings. Default 2,000.
    pub limit: usize,
}

impl Default for Drawing {
    fn default() -> Self {
        Self { vanishing: false, limit: 2_000 }
    }
}

/// The reachability graph as Graphviz DOT: tangible markings are ellipses, dead ones have two lines, vanishing ones (where
/// they are shown) grey boxes; timed firings are solid, immediate ones dashed. An edge between tangible markings names the timed
/// transitions that lead from one to the other, with their rates \[1/s\].
///
/// # Errors
///
/// Too many markings, or what [`explore`](crate::solve::explore) finds wrong.
pub fn reachability_dot(space: &StateSpace, program: &Program, drawing: Drawing) -> Result<String, DrawError> {
    if space.states() > drawing.limit {
        return Err(DrawError::TooLarge { limit: drawing.limit });
    }
    let mut artist = Artist {
        rules: space.rules(program),
        space,
        drawing,
        vanishing: Store::new(&program.initial, &crate::solve::reach::varying(program)),
        text: String::from("digraph reachability {\n  node [fontname=\"sans-serif\", fontsize=10];\n"),
        settling: Settling::default(),
    };
    artist.text.push_str("  edge [fontname=\"sans-serif\", fontsize=9, arrowsize=0.7];\n");
    artist.states()?;
    for state in 0..space.explored() {
        artist.edges(state)?;
    }
    artist.text.push_str("}\n");
    Ok(artist.text)
}

struct Artist<'a> {
    rules: Rules<'a>,
    space: &'a StateSpace,
    drawing: Drawing,
    vanishing: Store,
    text: String,
    settling: Settling,
}

impl Artist<'_> {
    fn states(&mut self) -> Result<(), DrawError> {
        let mut marking = self.rules.program.initial.clone();
        for state in 0..self.space.states() {
            self.space.marking(state, &mut marking);
            let lines = if self.space.dead().binary_search(&(state as u32)).is_ok() { ", peripheries=2" } else { "" };
            let starts = self.space.partial_chain().initial.iter().any(|&(initial, _)| initial as usize == state);
            let bold = if starts { ", style=bold" } else { "" };
            let label = label(self.rules.program, &marking);
            let _ = writeln!(self.text, "  s{state} [label=\"{state}: {label}\"{lines}{bold}];");
        }
        if self.drawing.vanishing {
            let initial = self.rules.program.initial.clone();
            self.settling.explore(&self.rules, &initial)?;
            if !self.settling.is_end(0) {
                self.zero_time()?;
            }
        }
        Ok(())
    }

    /// Draws what leads from a state.
    fn edges(&mut self, state: usize) -> Result<(), DrawError> {
        let program = self.rules.program;
        let mut marking = program.initial.clone();
        self.space.marking(state, &mut marking);
        if self.rules.is_goal(&marking).map_err(ExploreError::from)? {
            return Ok(());
        }
        let mut next = marking.clone();
        let mut found = Candidates::default();
        // per target, what leads to it
        let mut labels: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for &t in &program.timed {
            let rate = rate(program, t as usize, &marking).map_err(ExploreError::from)?;
            if rate <= 0.0 {
                continue;
            }
            next.copy_from_slice(&marking);
            fire(program, t as usize, &mut next).map_err(ExploreError::from)?;
            let groups = program.affects_groups.row(t as usize);
            let vanishes = self.rules.is_vanishing(&next, groups, &mut found).map_err(ExploreError::from)?;
            let name = escaped(&program.transition_names[t as usize]);
            if !vanishes {
                labels.entry(self.tangible(&next)).or_default().push(format!("{name} {rate}"));
                continue;
            }
            self.settling.explore(&self.rules, &next)?;
            if self.drawing.vanishing {
                self.zero_time()?;
                labels.entry(self.name(0)).or_default().push(format!("{name} {rate}"));
            } else {
                self.settling.visits(program)?;
                for end in (0..self.settling.len()).filter(|&i| self.settling.is_end(i)) {
                    let rate = rate * self.settling.visit(end);
                    labels.entry(self.name(end)).or_default().push(format!("{name} {rate}"));
                }
            }
        }
        for (target, firings) in labels {
            let _ = writeln!(self.text, "  s{state} -> {target} [label=\"{}\"];", firings.join("\\n"));
        }
        Ok(())
    }

    fn tangible(&self, marking: &[u32]) -> String {
        self.space.find(marking).map_or_else(String::new, |state| format!("s{state}"))
    }

    /// The name of a marking of the settling.
    fn name(&self, i: usize) -> String {
        let marking = self.settling.marking(i);
        if self.settling.is_end(i) {
            return self.tangible(marking);
        }
        self.vanishing.find(marking).map_or_else(String::new, |number| format!("v{number}"))
    }

    /// Draws the vanishing markings of the settling that are new, and their firings.
    fn zero_time(&mut self) -> Result<(), DrawError> {
        let program = self.rules.program;
        let count = self.settling.len();
        let fresh: Vec<bool> =
            (0..count).map(|i| !self.settling.is_end(i) && self.vanishing.insert(self.settling.marking(i)).1).collect();
        if self.space.states() + self.vanishing.len() > self.drawing.limit {
            return Err(DrawError::TooLarge { limit: self.drawing.limit });
        }
        for i in (0..count).filter(|&i| fresh[i]) {
            let name = self.name(i);
            let label = label(program, self.settling.marking(i));
            let _ = writeln!(self.text, "  {name} [shape=box, style=filled, fillcolor=gray90, label=\"{label}\"];");
            for step in self.settling.steps(i) {
                let to = self.name(step.to as usize);
                let transition = escaped(&program.transition_names[step.transition as usize]);
                let probability = step.probability;
                let _ = writeln!(self.text, "  {name} -> {to} [style=dashed, label=\"{transition} {probability}\"];");
            }
        }
        Ok(())
    }
}

/// The marked places of a marking.
fn label(program: &Program, marking: &[u32]) -> String {
    let classes = program.classes();
    let mut parts = Vec::new();
    for (counter, &tokens) in marking.iter().enumerate().filter(|(_, tokens)| **tokens > 0) {
        let mut part = if tokens > 1 { format!("{tokens} ") } else { String::new() };
        part.push_str(&escaped(&program.place_names[counter / classes]));
        if classes > 1 {
            let _ = write!(part, " {}", escaped(&program.class_names[counter % classes]));
        }
        parts.push(part);
    }
    parts.join(" + ")
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Writes the generator matrix of a chain as Matrix Market: rows are the states before, in 1/s, the diagonal is minus the
/// total rate out.
///
/// # Errors
///
/// What `out` cannot take.
pub fn write_matrix_market(chain: &Chain, out: &mut dyn Write) -> io::Result<()> {
    let states = chain.rates.rows();
    let moving = (0..states).filter(|&state| !chain.rates.row(state).is_empty()).count();
    writeln!(out, "%%MatrixMarket matrix coordinate real general")?;
    writeln!(out, "% generator of a continuous-time Markov chain, rates in 1/s from row to column")?;
    writeln!(out, "{states} {states} {}", chain.rates.items().len() + moving)?;
    for state in 0..states {
        let row = chain.rates.row(state);
        let total: f64 = row.iter().map(|&(_, rate)| rate).sum();
        let split = row.partition_point(|&(to, _)| (to as usize) < state);
        for &(to, rate) in &row[..split] {
            writeln!(out, "{} {} {rate}", state + 1, to + 1)?;
        }
        if !row.is_empty() {
            writeln!(out, "{} {} {}", state + 1, state + 1, -total)?;
        }
        for &(to, rate) in &row[split..] {
            writeln!(out, "{} {} {rate}", state + 1, to + 1)?;
        }
    }
    Ok(())
}

/// Writes the transitions of a chain as PRISM's explicit `.tra` file.
///
/// # Errors
///
/// What `out` cannot take.
pub fn write_prism_transitions(chain: &Chain, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} {}", chain.rates.rows(), chain.rates.items().len())?;
    for state in 0..chain.rates.rows() {
        for (to, rate) in chain.rates.row(state) {
            writeln!(out, "{state} {to} {rate}")?;
        }
    }
    Ok(())
}

/// Writes the markings as PRISM's explicit `.sta` file. Counters are its variables; names that PRISM does not take get
/// underscores.
///
/// # Errors
///
/// What `out` cannot take.
pub fn write_prism_states(space: &StateSpace, program: &Program, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "({})", variables(program).join(","))?;
    let mut marking = vec![0; program.counters()];
    for state in 0..space.states() {
        space.marking(state, &mut marking);
        let tokens: Vec<String> = marking.iter().map(ToString::to_string).collect();
        writeln!(out, "{state}:({})", tokens.join(","))?;
    }
    Ok(())
}

/// Writes the labels `init`, `deadlock` and `goal` as PRISM's explicit `.lab` file.
///
/// # Errors
///
/// What `out` cannot take.
pub fn write_prism_labels(space: &StateSpace, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "0=\"init\" 1=\"deadlock\" 2=\"goal\"")?;
    let mut labels: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    let initial = space.partial_chain().initial.iter().map(|&(state, _)| (state, "0"));
    let dead = space.dead().iter().map(|&state| (state, "1"));
    let goals = space.goals().iter().map(|&state| (state, "2"));
    for (state, label) in initial.chain(dead).chain(goals) {
        labels.entry(state).or_default().push(label);
    }
    for (state, labels) in labels {
        writeln!(out, "{state}: {}", labels.join(" "))?;
    }
    Ok(())
}

/// The counters as identifiers of PRISM, each different.
fn variables(program: &Program) -> Vec<String> {
    let classes = program.classes();
    let mut names: Vec<String> = Vec::with_capacity(program.counters());
    for counter in 0..program.counters() {
        let mut name = program.place_names[counter / classes].clone();
        if classes > 1 {
            let _ = write!(name, "_{}", program.class_names[counter % classes]);
        }
        let mut name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            name.insert(0, '_');
        }
        while names.contains(&name) {
            name.push('_');
        }
        names.push(name);
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::cases::{philosophers, queue, ring, space};

    fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_generator_of_a_queue() {
        let space = space(&queue(2, 2.0, 3.0));
        let text = written(|out| write_matrix_market(space.complete().unwrap(), out));
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(rows, ["3 3 7", "1 1 -2", "1 2 2", "2 1 3", "2 2 -5", "2 3 2", "3 2 3", "3 3 -3"]);
    }

    #[test]
    fn the_files_of_prism() {
        let program = queue(2, 2.0, 3.0);
        let space = space(&program);
        let chain = space.complete().unwrap();
        assert_eq!(written(|out| write_prism_transitions(chain, out)), "3 4\n0 1 2\n1 0 3\n1 2 2\n2 1 3\n");
        assert_eq!(written(|out| write_prism_states(&space, &program, out)), "(q)\n0:(0)\n1:(1)\n2:(2)\n");
        let labels = written(|out| write_prism_labels(&space, out));
        assert_eq!(labels, "0=\"init\" 1=\"deadlock\" 2=\"goal\"\n0: 0\n");
    }

    #[test]
    fn names_become_different_identifiers() {
        let mut program = ring(3, 1);
        program.place_names = vec!["a b".to_owned(), "a-b".to_owned(), "1st".to_owned()];
        assert_eq!(variables(&program), ["a_b", "a_b_", "_1st"]);
    }

    #[test]
    fn a_drawing_has_every_state_and_edge() {
        let program = philosophers(2);
        let space = space(&program);
        let text = reachability_dot(&space, &program, Drawing::default()).unwrap();
        assert_eq!(text.matches(" -> ").count(), space.complete().unwrap().rates.items().len());
        assert_eq!(text.matches("peripheries=2").count(), 1);
        let few = Drawing { limit: 2, ..Drawing::default() };
        assert!(matches!(reachability_dot(&space, &program, few), Err(DrawError::TooLarge { limit: 2 })));
    }
}
