//! Nets: reads them, builds them part by part, writes and draws them.

use std::path::PathBuf;

use pyo3::exceptions::{PyKeyError, PyOSError, PyValueError};
use pyo3::prelude::*;
use tailspn::formats::ReadFileError;
use tailspn::formats::pipe::{WriteOptions, write};
use tailspn::formats::svg::svg;
use tailspn::net::{
    ArcKind, Branch, Delay, Expr, Law, Memory, Net, NetBuilder, Parameter, Place, PlaceId, Servers, Timing,
    TransitionId,
};

/// A net.
#[pyclass(frozen, module = "tailspn._tailspn")]
pub(crate) struct NativeNet(Net);

impl NativeNet {
    pub(crate) fn net(&self) -> &Net {
        &self.0
    }
}

fn invalid(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl NativeNet {
    /// Reads a net of any format.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let net = py.detach(|| Net::open(&path));
        net.map(Self).map_err(|error| match &error {
            ReadFileError::Io { .. } => PyOSError::new_err(error.to_string()),
            _ => invalid(error),
        })
    }

    /// Reads a net from the text of a file.
    #[staticmethod]
    fn parse(text: &str) -> PyResult<Self> {
        Net::read(text.as_bytes()).map(Self).map_err(invalid)
    }

    /// Returns the name.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns the places as pairs of id and initial tokens of each class.
    #[getter]
    fn places(&self) -> Vec<(String, Vec<u32>)> {
        self.0.places().iter().map(|place| (place.id.clone(), place.initial.clone())).collect()
    }

    /// Returns the ids of the transitions.
    #[getter]
    fn transitions(&self) -> Vec<String> {
        self.0.transitions().iter().map(|transition| transition.id.clone()).collect()
    }

    /// Returns the capacity of each place; none if the place is unbounded.
    #[getter]
    fn capacities(&self) -> Vec<Option<u32>> {
        self.0.places().iter().map(|place| place.capacity).collect()
    }

    /// Returns the ids of the token classes.
    #[getter]
    fn classes(&self) -> Vec<String> {
        self.0.classes().iter().map(|class| class.id.clone()).collect()
    }

    /// Returns the rate parameters as pairs of name and value; the value is text.
    #[getter]
    fn parameters(&self) -> Vec<(String, String)> {
        let row = |parameter: &Parameter| (parameter.name.clone(), self.0.expression_text(&parameter.value));
        self.0.parameters().iter().map(row).collect()
    }

    /// Returns the timings of the transitions.
    #[getter]
    fn timings(&self) -> Vec<TimingRow> {
        self.0.transitions().iter().map(|transition| timing_row(&self.0, &transition.timing)).collect()
    }

    /// Returns the arcs: kind, place, transition, and the weight of each class as text.
    #[getter]
    fn arcs(&self) -> Vec<(&'static str, String, String, Vec<String>)> {
        let kind = |kind| match kind {
            ArcKind::Input => "input",
            ArcKind::Output => "output",
            ArcKind::Inhibitor => "inhibitor",
            ArcKind::Test => "test",
        };
        let row = |arc: &tailspn::net::Arc| {
            let (place, transition) = (self.0.place(arc.place), self.0.transition(arc.transition));
            let mut weights = vec!["0".to_owned(); self.0.classes().len()];
            for weight in &arc.weights {
                weights[weight.class.index()] = self.0.expression_text(&weight.weight);
            }
            (kind(arc.kind), place.id.clone(), transition.id.clone(), weights)
        };
        self.0.arcs().iter().map(row).collect()
    }

    /// Returns the net as PIPE XML, and the features that PIPE does not represent exactly.
    fn pipe(&self) -> (String, Vec<String>) {
        let written = write(&self.0, &WriteOptions::default());
        (written.xml, written.warnings.into_iter().map(|warning| warning.message).collect())
    }

    /// Returns the picture as SVG.
    fn svg(&self) -> String {
        svg(&self.0)
    }
}

/// Timing of a transition: `immediate` or the name of the delay's distribution; the weight or rate as text; the parameters of
/// other distributions; the priority; the number of servers (0 for infinitely many); true for age memory.
type TimingRow = (&'static str, Option<String>, Vec<f64>, u32, u32, bool);

fn timing_row(net: &Net, timing: &Timing) -> TimingRow {
    match timing {
        Timing::Immediate { weight, priority } => {
            ("immediate", Some(net.expression_text(weight)), Vec::new(), *priority, 0, false)
        }
        Timing::Timed { delay, servers, memory } => {
            let servers = match servers {
                Servers::Infinite => 0,
                Servers::Single => 1,
                Servers::Limited(most) => *most,
            };
            let (name, rate, numbers) = match delay {
                Delay::Exponential { rate } => ("exponential", Some(net.expression_text(rate)), Vec::new()),
                Delay::General(law) => (law.name(), None, numbers(law)),
            };
            (name, rate, numbers, 0, servers, *memory == Memory::Age)
        }
    }
}

/// The parameters of a distribution, in the order of the arguments of [`law`].
fn numbers(law: &Law) -> Vec<f64> {
    match law {
        Law::Deterministic { delay } => vec![*delay],
        Law::Uniform { low, high } => vec![*low, *high],
        Law::Erlang { stages, mean } => vec![f64::from(*stages), *mean],
        Law::LogNormal { mean, cv } => vec![*mean, *cv],
        Law::Weibull { shape, scale } | Law::Pareto { shape, scale } | Law::Gamma { shape, scale } => {
            vec![*shape, *scale]
        }
        Law::Empirical { samples } => samples.clone(),
        Law::Hyperexponential { branches } => {
            branches.iter().flat_map(|branch| [branch.probability, branch.mean]).collect()
        }
    }
}

/// A net under construction.
#[pyclass(module = "tailspn._tailspn")]
pub(crate) struct NativeBuilder {
    builder: NetBuilder,
    places: Vec<String>,
}

impl NativeBuilder {
    fn expression(&self, text: &str) -> PyResult<Expr> {
        self.builder.expression(text).map_err(invalid)
    }

    fn place_of(&self, id: &str) -> PyResult<PlaceId> {
        let index = self.places.iter().position(|place| place == id);
        index.map(PlaceId::from_index).ok_or_else(|| PyKeyError::new_err(format!("no place `{id}`")))
    }

    fn transition_of(&self, id: &str) -> PyResult<TransitionId> {
        let found = self.builder.find_transition(id);
        found.ok_or_else(|| PyKeyError::new_err(format!("no transition `{id}`")))
    }
}

#[pymethods]
impl NativeBuilder {
    #[new]
    fn new(name: &str) -> Self {
        Self { builder: NetBuilder::new(name), places: Vec::new() }
    }

    /// Adds a rate parameter.
    fn parameter(&mut self, name: &str, value: &str) -> PyResult<()> {
        let value = self.expression(value)?;
        self.builder.add_parameter(Parameter { name: name.to_owned(), value, position: None });
        Ok(())
    }

    /// Adds a place.
    #[pyo3(signature = (id, tokens, capacity=None))]
    fn place(&mut self, id: &str, tokens: u32, capacity: Option<u32>) {
        self.builder.add_place(Place { id: id.to_owned(), initial: vec![tokens], capacity, ..Place::default() });
        self.places.push(id.to_owned());
    }

    /// Adds an immediate transition.
    fn immediate(&mut self, id: &str, weight: &str, priority: u32) -> PyResult<()> {
        let weight = self.expression(weight)?;
        self.builder.transition(id, Timing::Immediate { weight, priority });
        Ok(())
    }

    /// Lets a transition fire only while a condition holds.
    fn guard(&mut self, transition: &str, condition: &str) -> PyResult<()> {
        let (transition, condition) = (self.transition_of(transition)?, self.expression(condition)?);
        self.builder.guard(transition, condition).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Adds a timed transition. An exponential delay is given by its rate, any other delay by its distribution and parameters. 0 servers
    /// means infinitely many.
    #[pyo3(signature = (id, distribution, rate, numbers, servers, age))]
    fn timed(
        &mut self,
        id: &str,
        distribution: &str,
        rate: &str,
        numbers: Vec<f64>,
        servers: u32,
        age: bool,
    ) -> PyResult<()> {
        let delay = match distribution {
            "exponential" => Delay::Exponential { rate: self.expression(rate)? },
            _ => Delay::General(law(distribution, &numbers)?),
        };
        let servers = match servers {
            0 => Servers::Infinite,
            1 => Servers::Single,
            most => Servers::Limited(most),
        };
        let memory = if age { Memory::Age } else { Memory::Enabling };
        self.builder.transition(id, Timing::Timed { delay, servers, memory });
        Ok(())
    }

    /// Adds an arc; `kind` is `input`, `output`, `inhibitor` or `test`.
    fn arc(&mut self, kind: &str, place: &str, transition: &str, weight: &str) -> PyResult<()> {
        let kind = match kind {
            "input" => ArcKind::Input,
            "output" => ArcKind::Output,
            "inhibitor" => ArcKind::Inhibitor,
            "test" => ArcKind::Test,
            _ => return Err(invalid(format!("unknown kind of arc `{kind}`"))),
        };
        let (place, transition) = (self.place_of(place)?, self.transition_of(transition)?);
        let weight = self.expression(weight)?;
        self.builder.arc(kind, place, transition, weight);
        Ok(())
    }

    /// Returns the net.
    fn build(&self) -> PyResult<NativeNet> {
        self.builder.clone().build().map(NativeNet).map_err(invalid)
    }
}

/// Returns the distribution with a name and parameters.
fn law(name: &str, numbers: &[f64]) -> PyResult<Law> {
    Ok(match (name, numbers) {
        ("deterministic", &[delay]) => Law::Deterministic { delay },
        ("uniform", &[low, high]) => Law::Uniform { low, high },
        ("erlang", &[stages, mean]) => Law::Erlang { stages: stages as u32, mean },
        ("lognormal", &[mean, cv]) => Law::LogNormal { mean, cv },
        ("weibull", &[shape, scale]) => Law::Weibull { shape, scale },
        ("pareto", &[shape, scale]) => Law::Pareto { shape, scale },
        ("gamma", &[shape, scale]) => Law::Gamma { shape, scale },
        ("empirical", samples) => Law::Empirical { samples: samples.to_vec() },
        ("hyperexponential", numbers) => Law::Hyperexponential {
            branches: numbers.chunks_exact(2).map(|pair| Branch { probability: pair[0], mean: pair[1] }).collect(),
        },
        _ => return Err(invalid(format!("there is no distribution `{name}` with {} parameters", numbers.len()))),
    })
}
