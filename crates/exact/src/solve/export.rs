//! Export of state spaces for other programs: Matrix Market, and the explicit files of PRISM.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use crate::compile::Program;
use crate::solve::chain::Chain;
use crate::solve::space::StateSpace;

/// Writes the generator matrix of a chain as Matrix Market. An entry is the rate \[1/s\] from the state of its row to the state
/// of its column; a diagonal entry is minus the total rate out of the state.
///
/// # Errors
///
/// An error of `out`.
pub fn write_matrix_market(chain: &Chain, out: &mut dyn Write) -> io::Result<()> {
    let states = chain.rates.rows();
    let moving = (0..states).filter(|&state| !chain.rates.states(state).is_empty()).count();
    writeln!(out, "%%MatrixMarket matrix coordinate real general")?;
    writeln!(out, "% generator of a continuous-time Markov chain, rates in 1/s from row to column")?;
    writeln!(out, "{states} {states} {}", chain.rates.count() + moving)?;
    for state in 0..states {
        let row = chain.rates.row(state);
        let split = chain.rates.states(state).partition_point(|&to| (to as usize) < state);
        for (to, rate) in row.clone().take(split) {
            writeln!(out, "{} {} {rate}", state + 1, to + 1)?;
        }
        if row.len() > 0 {
            writeln!(out, "{} {} {}", state + 1, state + 1, -chain.exit_rate(state))?;
        }
        for (to, rate) in row.skip(split) {
            writeln!(out, "{} {} {rate}", state + 1, to + 1)?;
        }
    }
    Ok(())
}

/// Writes the transitions of a chain as PRISM's explicit `.tra` file.
///
/// # Errors
///
/// An error of `out`.
pub fn write_prism_transitions(chain: &Chain, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} {}", chain.rates.rows(), chain.rates.count())?;
    for state in 0..chain.rates.rows() {
        for (to, rate) in chain.rates.row(state) {
            writeln!(out, "{state} {to} {rate}")?;
        }
    }
    Ok(())
}

/// Writes the markings as PRISM's explicit `.sta` file. Its variables are the counters; in their names, characters that PRISM
/// does not allow become underscores.
///
/// # Errors
///
/// An error of `out`.
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
/// An error of `out`.
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

/// Returns the names of the counters as PRISM identifiers, all different.
fn variables(program: &Program) -> Vec<String> {
    let classes = program.classes();
    let mut names: Vec<String> = Vec::with_capacity(program.counters());
    for counter in 0..program.counters() {
        let mut name = program.place_names[counter / classes].to_owned();
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
    use crate::solve::cases::{queue, ring, space};

    fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_generator_of_a_queue_is_written_as_matrix_market() {
        let space = space(&queue(2, 2.0, 3.0));
        let text = written(|out| write_matrix_market(space.complete().unwrap(), out));
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(rows, ["3 3 7", "1 1 -2", "1 2 2", "2 1 3", "2 2 -5", "2 3 2", "3 2 3", "3 3 -3"]);
    }

    #[test]
    fn transitions_states_and_labels_are_written_for_prism() {
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
        program.place_names = ["a b", "a-b", "1st"].into_iter().collect();
        assert_eq!(variables(&program), ["a_b", "a_b_", "_1st"]);
    }
}
