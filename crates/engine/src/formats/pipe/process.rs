//! Delays of process-mining tools: one tag, which ProM and pm4py give different meanings.
//!
//! | | ProM | pm4py |
//! |---|---|---|
//! | `EXPONENTIAL` | mean | rate |
//! | `UNIFORM` | lower and upper end | lower end and width |
//! | unit | `timeUnit` of the net | seconds |
//! | other | `mean` or `delay` | shape, location, scale, as in SciPy |
//!
//! ProM writes version 0.1 of the tag, or a time unit or policy of the net. pmkoalas writes attributes in place of properties.

use crate::formats::pipe::collect::Collector;
use crate::formats::pipe::notes::Notes;
use crate::formats::pipe::problem::{Fault, Oddity};
use crate::formats::pipe::raw::{ProcessWriter, Stochastic};
use crate::formats::pipe::xml::{Element, Text};
use crate::net::{Delay, Expr, Law, Memory, Servers, Timing};

impl ProcessWriter {
    /// Message about distributions that are not read.
    fn readable(self) -> &'static str {
        if self.version == Some(true) {
            "distributions of ProM other than IMMEDIATE, EXPONENTIAL (mean), DETERMINISTIC (delay) and UNIFORM (lower;upper end)"
        } else {
            "distributions other than IMMEDIATE, EXPONENTIAL (rate), DETERMINISTIC (delay), UNIFORM (low;width), \
             LOGNORMAL (shape;0;scale) and GAMMA (stages;0;scale)"
        }
    }

    /// The delay with these parameters; none if it cannot be read.
    fn delay(self, kind: &str, numbers: &[f64]) -> Option<Delay> {
        let (is_prom, unit) = (self.version == Some(true), self.unit.unwrap_or(1.0));
        Some(Delay::General(match (kind, numbers) {
            ("EXPONENTIAL", [mean]) if is_prom => {
                return Some(Delay::Exponential { rate: Expr::Number(1.0 / (mean * unit)) });
            }
            ("EXPONENTIAL", [rate]) => return Some(Delay::Exponential { rate: Expr::Number(*rate) }),
            ("DETERMINISTIC", [delay]) => Law::Deterministic { delay: delay * unit },
            ("UNIFORM", [low, high]) if is_prom => Law::Uniform { low: low * unit, high: high * unit },
            ("UNIFORM", [low, width]) => Law::Uniform { low: *low, high: low + width },
            ("LOGNORMAL", [shape, 0.0, scale]) if !is_prom => {
                let spread = shape * shape;
                Law::LogNormal { mean: scale * (spread / 2.0).exp(), cv: spread.exp_m1().sqrt() }
            }
            ("GAMMA", [shape, 0.0, scale]) if !is_prom && (1.0..=1000.0).contains(shape) && shape.fract() == 0.0 => {
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, from 1 to 1000")]
                let stages = *shape as u32;
                Law::Erlang { stages, mean: shape * scale }
            }
            _ => return None,
        }))
    }
}

/// Seconds per unit of time of ProM.
fn seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "NANOSECONDS" => 1e-9,
        "MICROSECONDS" => 1e-6,
        "MILLISECONDS" => 1e-3,
        "SECONDS" | "UNSPECIFIED" => 1.0,
        "MINUTES" => 60.0,
        "HOURS" => 3600.0,
        "DAYS" => 86_400.0,
        _ => return None,
    })
}

/// A property, as a child or as an attribute.
fn property<'t>(element: Element<'_, 't>, key: &str) -> Option<Text<'t>> {
    let named = element.children().find(|p| p.attribute("key").is_some_and(|k| k.value == key));
    named.and_then(Element::text).map(Text::trimmed).or_else(|| element.attribute(key))
}

impl<'t> Collector<'_, '_, 't> {
    /// The stochastic part of a transition.
    pub(super) fn stochastic(&mut self, element: Element<'_, 't>) -> Stochastic<'t> {
        self.net.traces.pm4py = true;
        let is_trained = property(element, "trainingData").is_some();
        match element.attribute("version") {
            Some(version) if version.value == "0.1" => self.net.writer.version = Some(true),
            Some(_) if !is_trained => _ = self.net.writer.version.get_or_insert(false),
            _ if is_trained => self.net.writer.version = Some(true),
            _ => {}
        }
        Stochastic {
            tag: element.span(),
            kind: property(element, "distributionType"),
            parameters: property(element, "distributionParameters"),
            weight: property(element, "weight"),
            priority: property(element, "priority"),
        }
    }

    /// The time unit and the policy of a net of ProM.
    pub(super) fn process_net(&mut self, element: Element<'_, 't>) {
        if property(element, "executionPolicy").is_some() {
            self.net.writer.version = Some(true);
        }
        let Some(unit) = property(element, "timeUnit") else { return };
        self.net.writer.version = Some(true);
        self.net.writer.unit = seconds(&unit.value.to_uppercase());
        if self.net.writer.unit.is_none() {
            let what = "the time unit of the net".to_owned();
            let expected = "NANOSECONDS to DAYS, or UNSPECIFIED";
            self.notes.fault(unit.span, Fault::BadNumber { what, text: unit.value.into_owned(), expected });
        }
    }
}

impl Stochastic<'_> {
    /// The timing of transition `id`, or `None` after a fault was noted.
    ///
    /// A timed transition keeps no weight, since delays race in tailspn.
    pub(super) fn timing(
        &self,
        notes: &mut Notes<'_>,
        id: &str,
        default_priority: u32,
        writer: ProcessWriter,
    ) -> Option<Timing> {
        let kind = self.kind.as_ref().map_or("", |kind| &*kind.value);
        let text = self.parameters.as_ref().map_or("", |text| &*text.value);
        let numbers: Vec<f64> = text.split(';').filter_map(|number| number.trim().parse().ok()).collect();
        let is_immediate = kind == "IMMEDIATE";
        if !is_immediate && writer.version.is_none() && matches!(kind, "EXPONENTIAL" | "UNIFORM") {
            notes.odd(self.tag.clone(), Oddity::ProcessWriter, || {
                "the file does not say which tool wrote its distributions; read as by pm4py: EXPONENTIAL has a rate, UNIFORM its lower end and width, in seconds (version=\"0.1\" is ProM: mean, and both ends)".to_owned()
            });
        }
        if let ("EXPONENTIAL", [mean], Some(true)) = (kind, &*numbers, writer.version)
            && *mean <= 0.0
        {
            let span = self.parameters.as_ref().map_or(self.tag.clone(), |text| text.span.clone());
            let what = format!("the mean delay of transition `{id}`");
            notes.fault(span, Fault::BadNumber { what, text: text.to_owned(), expected: "a positive number" });
            return None;
        }
        let law = match writer.delay(kind, &numbers) {
            _ if is_immediate => return self.immediate(notes, id, default_priority),
            Some(Delay::Exponential { rate }) => {
                self.note_weight(notes);
                return Some(Timing::Timed {
                    delay: Delay::Exponential { rate },
                    servers: Servers::Single,
                    memory: Memory::Enabling,
                });
            }
            Some(Delay::General(law)) => law,
            None => {
                let span = self.parameters.as_ref().or(self.kind.as_ref()).map_or(self.tag.clone(), |t| t.span.clone());
                let what = format!("transition `{id}` has the distribution `{kind}` with parameters `{text}`");
                notes.fault(span, Fault::Formalism { what, formalism: writer.readable() });
                return None;
            }
        };
        self.note_weight(notes);
        let delay = Delay::General(law);
        Some(Timing::Timed { delay, servers: Servers::Single, memory: Memory::Enabling })
    }

    fn immediate(&self, notes: &mut Notes<'_>, id: &str, default_priority: u32) -> Option<Timing> {
        let weight = self.weight.as_ref().map_or(Some(1.0), |text| text.value.parse().ok());
        let weight = weight.filter(|weight: &f64| *weight >= 0.0 && weight.is_finite());
        let priority = self.priority.as_ref().map_or(Some(default_priority), |text| text.value.parse().ok());
        if let (Some(weight), Some(priority)) = (weight, priority) {
            return Some(Timing::immediate(weight, priority));
        }
        let (name, text) = if weight.is_none() { ("weight", &self.weight) } else { ("priority", &self.priority) };
        let (span, text) = text.as_ref().map_or((self.tag.clone(), ""), |text| (text.span.clone(), &*text.value));
        let what = format!("the {name} of transition `{id}`");
        let expected = "a non-negative number";
        notes.fault(span, Fault::BadNumber { what, text: text.to_owned(), expected });
        None
    }

    /// Notes that the weight of a timed transition has no effect.
    fn note_weight(&self, notes: &mut Notes<'_>) {
        if let Some(weight) = self.weight.as_ref().filter(|weight| weight.value.parse() != Ok(1.0)) {
            notes.odd(weight.span.clone(), Oddity::Preselection, || {
                "weights of timed transitions are ignored: pm4py chooses by weight before delays start, tailspn lets the delays race"
                    .to_owned()
            });
        }
    }
}
