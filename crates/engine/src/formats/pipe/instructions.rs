//! `<?tailspn …?>` instructions: features of a net that PIPE's elements cannot express.
//!
//! PIPE skips processing instructions, so a file with them is still a PIPE file. An instruction inside a part has
//! values that take precedence over the part's elements; [`crate::formats::pipe`] lists the keys.

use std::fmt::Write as _;

use crate::formats::pipe::notes::Notes;
use crate::formats::pipe::problem::{Fault, Oddity};
use crate::formats::pipe::xml::{Element, INSTRUCTION, Text};
use crate::net::{Branch, Law, Memory, PathPoint, Point, Servers};

/// All keys, apart from the numbered conditions of a state group.
const KEYS: [&str; 39] = [
    "arc",
    "capacity",
    "cv",
    "delay",
    "from",
    "group",
    "high",
    "id",
    "kind",
    "law",
    "low",
    "marking-by-position",
    "mean",
    "means",
    "memory",
    "name",
    "name-offset",
    "net-name",
    "only-for",
    "parameter",
    "path",
    "position",
    "priority",
    "probabilities",
    "rate",
    "rate-by-position",
    "samples",
    "scale",
    "servers",
    "shape",
    "size",
    "source",
    "stages",
    "tagged",
    "target",
    "value",
    "value-by-position",
    "weights",
    "weights-by-position",
];

/// The values of the instructions in one part.
#[derive(Clone, Debug, Default)]
pub(super) struct Instructions<'t> {
    pairs: Vec<(String, Text<'t>)>,
}

/// The part of a PNML element that only tailspn reads.
pub(super) fn own_part<'a, 't>(element: Element<'a, 't>) -> Option<Element<'a, 't>> {
    element.children().find(|child| is_own(*child))
}

/// Returns true if an element is `<toolspecific tool="tailspn">`.
pub(super) fn is_own(element: Element<'_, '_>) -> bool {
    element.name() == "toolspecific" && element.attribute("tool").is_some_and(|tool| tool.value == "tailspn")
}

impl<'t> Instructions<'t> {
    /// All instructions directly in `element`, or in the element's part for tailspn.
    pub(super) fn of(element: Element<'_, 't>) -> Self {
        let mut pairs = Vec::new();
        let own = own_part(element).into_iter().flat_map(Element::children);
        for child in element.children().chain(own).filter(|c| c.name() == INSTRUCTION) {
            pairs.extend(child.attributes().map(|(key, value)| (key.to_owned(), value.clone())));
        }
        Self { pairs }
    }

    /// The values of an instruction that is a separate part.
    pub(super) fn alone(element: Element<'_, 't>) -> Self {
        Self { pairs: element.attributes().map(|(key, value)| (key.to_owned(), value.clone())).collect() }
    }

    /// The value of `key`.
    pub(super) fn get(&self, key: &str) -> Option<&Text<'t>> {
        self.pairs.iter().find(|(k, _)| k == key).map(|(_, value)| value)
    }

    /// Notes keys that have no meaning.
    pub(super) fn note_unknown(&self, notes: &mut Notes<'_>) {
        for (key, value) in &self.pairs {
            let known = KEYS.contains(&key.as_str()) || key.starts_with("condition-");
            if !known {
                notes.odd(value.span.clone(), Oddity::UnknownKey, || {
                    format!("`{key}` in a `<?tailspn ...?>` instruction has no meaning; ignored")
                });
            }
        }
    }

    /// Returns true if the part exists only for PIPE.
    pub(super) fn skips(&self) -> bool {
        self.get("only-for").is_some()
    }

    /// The number in `key`, if there is one.
    pub(super) fn number(&self, notes: &mut Notes<'_>, key: &str) -> Option<f64> {
        let text = self.get(key)?;
        let number = text.value.trim().parse().ok();
        if number.is_none() {
            self.refuse(notes, key, "not a number");
        }
        number
    }

    /// The number of servers, if the instructions give one; the outer `None` if it is refused.
    pub(super) fn servers(&self, notes: &mut Notes<'_>) -> Option<Option<Servers>> {
        let Some(text) = self.get("servers") else { return Some(None) };
        match (text.value.trim(), text.value.trim().parse()) {
            ("infinite", _) => return Some(Some(Servers::Infinite)),
            (_, Ok(most)) if most > 0 => return Some(Some(Servers::Limited(most))),
            _ => {}
        }
        self.refuse(notes, "servers", "neither `infinite` nor a whole number from 1 to 4294967295");
        None
    }

    /// The memory of a timed transition; `None` if it is refused.
    pub(super) fn memory(&self, notes: &mut Notes<'_>) -> Option<Memory> {
        match self.get("memory").map(|text| text.value.trim()) {
            None | Some("enabling") => return Some(Memory::Enabling),
            Some("age") => return Some(Memory::Age),
            _ => {}
        }
        self.refuse(notes, "memory", "neither `enabling` nor `age`");
        None
    }

    /// Notes that the value of `key` is invalid, and why.
    pub(super) fn refuse(&self, notes: &mut Notes<'_>, key: &str, reason: &str) {
        if let Some(text) = self.get(key) {
            let value = text.value.clone().into_owned();
            let fault = Fault::Instruction { key: key.to_owned(), value, reason: reason.to_owned() };
            notes.fault(text.span.clone(), fault);
        }
    }

    /// A point: `x y`, or `none`; the outer `None` if the key is missing or refused.
    pub(super) fn point(&self, notes: &mut Notes<'_>, key: &str) -> Option<Option<Point>> {
        let text = self.get(key)?;
        if text.value == "none" {
            return Some(None);
        }
        let numbers: Vec<f64> = text.value.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        if let [x, y] = numbers[..] {
            return Some(Some(Point { x, y }));
        }
        self.refuse(notes, key, "not two numbers");
        None
    }

    /// A path: points `x y` or `x y curved`, separated by semicolons, or `none`.
    pub(super) fn path(&self, notes: &mut Notes<'_>) -> Option<Vec<PathPoint>> {
        let text = self.get("path")?;
        if text.value == "none" {
            return Some(Vec::new());
        }
        let point = |piece: &str| {
            let mut words = piece.split_whitespace();
            let point = Point { x: words.next()?.parse().ok()?, y: words.next()?.parse().ok()? };
            Some(PathPoint { point, curved: words.next() == Some("curved") })
        };
        let pieces = text.value.split(';').filter(|piece| !piece.trim().is_empty());
        let path: Option<Vec<_>> = pieces.map(point).collect();
        if path.is_none() {
            self.refuse(notes, "path", "not a list of points");
        }
        path
    }

    /// The delay distribution, if the instructions give one.
    pub(super) fn law(&self, notes: &mut Notes<'_>) -> Option<Law> {
        let name = self.get("law")?.value.clone();
        let span = self.get("law")?.span.clone();
        let mut need = |key: &str| {
            let number = self.number(notes, key);
            if number.is_none() && self.get(key).is_none() {
                self.refuse(notes, "law", &format!("`{key}` is missing"));
            }
            number
        };
        let law = match &*name {
            "deterministic" => Law::Deterministic { delay: need("delay")? },
            "uniform" => Law::Uniform { low: need("low")?, high: need("high")? },
            "erlang" => {
                let stages = need("stages")?;
                if stages.fract() != 0.0 {
                    self.refuse(notes, "stages", "not a whole number");
                    return None;
                }
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the range")]
                Law::Erlang { stages: stages.clamp(0.0, f64::from(u32::MAX)) as u32, mean: need("mean")? }
            }
            "lognormal" => Law::LogNormal { mean: need("mean")?, cv: need("cv")? },
            "weibull" => Law::Weibull { shape: need("shape")?, scale: need("scale")? },
            "pareto" => Law::Pareto { shape: need("shape")?, scale: need("scale")? },
            "gamma" => Law::Gamma { shape: need("shape")?, scale: need("scale")? },
            "hyperexponential" => Law::Hyperexponential { branches: self.branches(notes)? },
            "empirical" => Law::Empirical { samples: self.numbers(notes, "samples")? },
            _ => {
                self.refuse(notes, "law", "unknown distribution");
                return None;
            }
        };
        if let Some(problem) = law.problem() {
            notes.fault(span, Fault::Law(problem));
            return None;
        }
        Some(law)
    }

    fn numbers(&self, notes: &mut Notes<'_>, key: &str) -> Option<Vec<f64>> {
        let text = self.get(key).map_or("", |t| &t.value);
        let numbers: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
        if numbers.is_err() {
            self.refuse(notes, key, "not a list of numbers");
        }
        numbers.ok()
    }

    fn branches(&self, notes: &mut Notes<'_>) -> Option<Vec<Branch>> {
        let probabilities = self.numbers(notes, "probabilities")?;
        let means = self.numbers(notes, "means")?;
        if probabilities.len() != means.len() {
            self.refuse(notes, "law", "`probabilities` and `means` have different lengths");
            return None;
        }
        let branch = |(probability, mean)| Branch { probability, mean };
        Some(probabilities.into_iter().zip(means).map(branch).collect())
    }
}

/// The key-value pairs that [`Instructions::law`] reads back.
pub(super) fn law_pairs(law: &Law) -> Vec<(&'static str, String)> {
    let number = |value: &f64| format!("{value:?}");
    let join = |values: &mut dyn Iterator<Item = f64>| values.map(|v| format!("{v:?}")).collect::<Vec<_>>().join(" ");
    let (name, rest) = match law {
        Law::Deterministic { delay } => ("deterministic", vec![("delay", number(delay))]),
        Law::Uniform { low, high } => ("uniform", vec![("low", number(low)), ("high", number(high))]),
        Law::Erlang { stages, mean } => ("erlang", vec![("stages", stages.to_string()), ("mean", number(mean))]),
        Law::LogNormal { mean, cv } => ("lognormal", vec![("mean", number(mean)), ("cv", number(cv))]),
        Law::Weibull { shape, scale } => ("weibull", vec![("shape", number(shape)), ("scale", number(scale))]),
        Law::Pareto { shape, scale } => ("pareto", vec![("shape", number(shape)), ("scale", number(scale))]),
        Law::Gamma { shape, scale } => ("gamma", vec![("shape", number(shape)), ("scale", number(scale))]),
        Law::Hyperexponential { branches } => (
            "hyperexponential",
            vec![
                ("probabilities", join(&mut branches.iter().map(|b| b.probability))),
                ("means", join(&mut branches.iter().map(|b| b.mean))),
            ],
        ),
        Law::Empirical { samples } => ("empirical", vec![("samples", join(&mut samples.iter().copied()))]),
    };
    std::iter::once(("law", name.to_owned())).chain(rest).collect()
}

/// The text of a path, as [`Instructions::path`] reads it.
pub(super) fn path_text(path: &[PathPoint]) -> String {
    let mut text = String::new();
    for p in path {
        let curved = if p.curved { " curved" } else { "" };
        let _ = write!(text, "{:?} {:?}{curved};", p.point.x, p.point.y);
    }
    text
}
