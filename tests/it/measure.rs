//! A measure of a net, by its name in an expectation file, and its estimate with a standard error by any engine.
//!
//! Steady-state values come from independent replications: each runs from the initial marking to a horizon, and
//! everything before the warm-up does not count. The averages of the replications are independent and identically
//! distributed, so their standard error needs no batches; the remaining bias comes from the marking at the end of the
//! warm-up.

use std::fmt;

use tailspn::compile::{Code, Program, compile, lower};
use tailspn::estimate::FloatMoments;
use tailspn::net::Net;
use tailspn::sim::{Backend, EngineChoice, Ensemble, Goal, Question, Reward, RunError, Samples, Unwatched, run};

/// Every engine there is. A new one is added here, and runs all that it can.
pub(crate) const ENGINES: [(EngineChoice, &str); 4] = [
    (EngineChoice::Schedule, "schedule"),
    (EngineChoice::Lockstep, "lockstep"),
    (EngineChoice::Direct, "direct"),
    (EngineChoice::Clock, "clock"),
];

/// Number of standard errors that an estimate may be off; a right one is beyond that in 6 of 10 million.
const STANDARD_ERRORS: f64 = 5.0;
/// Allowed error of a value without any spread, which is rounding only.
const ROUNDING: f64 = 1e-9;

/// A measure of a net.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Measure {
    /// `mean_tokens(place)` or `mean_tokens(place, class)`: time average of its tokens.
    Tokens(String),
    /// `probability(condition)`: time average of an expression that is 0 or 1, or of any other.
    Average(String),
    /// `throughput(transition)`: firings per second.
    Throughput(String),
    /// `passage_mean(condition)`: mean time to the first marking in which it holds.
    PassageMean(String),
    /// `passage_sd(condition)`: its standard deviation.
    PassageSd(String),
    /// `passage_cdf(condition, time)`: the probability that it is at most `time` seconds.
    PassageCdf(String, f64),
}

impl Measure {
    /// Reads the name of a measure.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let (kind, rest) = name.split_once('(')?;
        let inside = rest.strip_suffix(')')?.to_owned();
        match kind {
            "mean_tokens" => Some(Self::Tokens(inside)),
            "probability" => Some(Self::Average(inside)),
            "throughput" => Some(Self::Throughput(inside)),
            "passage_mean" => Some(Self::PassageMean(inside)),
            "passage_sd" => Some(Self::PassageSd(inside)),
            "passage_cdf" => {
                let (condition, time) = inside.rsplit_once(',')?;
                Some(Self::PassageCdf(condition.trim().to_owned(), time.trim().parse().ok()?))
            }
            _ => None,
        }
    }

    /// The condition of a passage time, if it is about one.
    pub(crate) fn condition(&self) -> Option<&str> {
        match self {
            Self::PassageMean(condition) | Self::PassageSd(condition) | Self::PassageCdf(condition, _) => {
                Some(condition)
            }
            Self::Tokens(_) | Self::Average(_) | Self::Throughput(_) => None,
        }
    }
}

/// A value and its standard error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimated {
    pub(crate) value: f64,
    pub(crate) error: f64,
}

impl fmt::Display for Estimated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (standard error {:.2e})", self.value, self.error)
    }
}

impl Estimated {
    pub(crate) fn of(sample: &FloatMoments) -> Self {
        let variance = sample.variance().expect("at least two replications");
        Self { value: sample.mean().expect("replications"), error: (variance / sample.count() as f64).sqrt() }
    }

    pub(crate) fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, error: self.error * factor }
    }

    /// Returns true if the estimate can be one of `exact`.
    pub(crate) fn agrees_with(self, exact: f64) -> bool {
        (self.value - exact).abs() <= STANDARD_ERRORS * self.error + ROUNDING * exact.abs().max(1e-6)
    }

    /// Returns true if two independent estimates can be of the same value.
    pub(crate) fn agrees_with_other(self, other: Self) -> bool {
        Self { value: self.value, error: self.error.hypot(other.error) }.agrees_with(other.value)
    }

    /// Returns true if the standard error is at most `share` of the exact value, so that a bias of five times that
    /// share would be noticed; for values below `tiny`, of that.
    pub(crate) fn is_sharp(self, exact: f64, share: f64, tiny: f64) -> bool {
        self.error <= share * exact.abs().max(tiny)
    }
}

/// Length and number of steady-state replications.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steady {
    pub(crate) warm_up: f64,
    pub(crate) horizon: f64,
    pub(crate) replications: u64,
}

/// A net ready to be asked.
#[derive(Debug)]
pub(crate) struct Subject {
    net: Net,
    pub(crate) program: Program,
    /// Adapter on which everything is run too.
    adapter: Option<String>,
}

impl Subject {
    /// The same, run on a graphics adapter too, which must give the same numbers to the bit.
    #[cfg(feature = "gpu")]
    pub(crate) fn on(mut self, adapter: String) -> Self {
        self.adapter = Some(adapter);
        self
    }

    pub(crate) fn new(net: Net) -> Self {
        let program = compile(&net).unwrap();
        Self { net, program, adapter: None }
    }

    pub(crate) fn code(&self, expression: &str) -> Code {
        let parsed = self.net.expression(expression);
        lower(&self.net, &parsed.unwrap_or_else(|error| panic!("{expression}: {error}")))
    }

    /// The expression to average, where the measure is not counted by the engines anyway.
    fn reward(&self, measure: &Measure) -> Option<String> {
        match measure {
            Measure::Tokens(id) if self.net.classes().len() == 1 && self.net.find_place(id).is_some() => None,
            Measure::Tokens(id) => Some(format!("#({id})")),
            Measure::Average(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// The values of averages and throughputs by one engine, in order.
    pub(crate) fn steady(
        &self,
        measures: &[Measure],
        steady: Steady,
        engine: EngineChoice,
    ) -> Result<Vec<Estimated>, RunError> {
        let rewards = measures.iter().filter_map(|measure| {
            let text = self.reward(measure)?;
            Some(Reward { rate: Some(self.code(&text)), name: text, impulses: vec![] })
        });
        let question = Question {
            goal: Goal::Horizon,
            horizon: Some(steady.horizon),
            warm_up: steady.warm_up,
            tokens: true,
            throughput: true,
            rewards: rewards.collect(),
            ..Question::default()
        };
        let samples = self.run(&question, steady.replications, engine)?;
        let averages = samples.averages();
        let mut rewards = averages.rewards.iter();
        let value = |measure: &Measure| match measure {
            Measure::Throughput(id) => {
                let t = self.net.find_transition(id).unwrap_or_else(|| panic!("no transition `{id}`"));
                Estimated::of(&samples.averages().throughput[t.index()])
            }
            Measure::Tokens(id) if self.reward(measure).is_none() => {
                Estimated::of(&samples.averages().tokens[self.net.find_place(id).unwrap().index()])
            }
            _ => Estimated::of(rewards.next().unwrap()).times(1.0 / (steady.horizon - steady.warm_up)),
        };
        Ok(measures.iter().map(value).collect())
    }

    /// The values of passage measures, all of one condition, by one engine, in order.
    pub(crate) fn passage(
        &self,
        measures: &[Measure],
        replications: u64,
        engine: EngineChoice,
    ) -> Result<Vec<Estimated>, RunError> {
        let condition = measures[0].condition().unwrap();
        let question = Question::until(&self.net, condition).unwrap();
        let samples = self.run(&question, replications, engine)?;
        assert_eq!(samples.passage.count(), replications, "every replication reaches `{condition}`");
        Ok(measures.iter().map(|measure| passage_value(measure, &samples)).collect())
    }

    fn run(&self, question: &Question, replications: u64, engine: EngineChoice) -> Result<Samples, RunError> {
        let backend = Backend::Cpu;
        let ensemble = Ensemble { replications, engine, backend, seed: 20_240_917, keep: true, ..Ensemble::default() };
        let samples = run(&self.program, question, &ensemble, &Unwatched)?.samples;
        if let Some(adapter) = &self.adapter {
            let ensemble = Ensemble { backend: Backend::Gpu, adapter: Some(adapter.clone()), ..ensemble };
            let there = run(&self.program, question, &ensemble, &Unwatched)?;
            assert!(there.provenance.placement.device.is_some_and(|device| device.replications == replications));
            assert_eq!(there.samples, samples, "the device has other numbers");
        }
        Ok(samples)
    }
}

/// One measure of kept passage times.
fn passage_value(measure: &Measure, samples: &Samples) -> Estimated {
    let n = samples.passage_times.len() as f64;
    let times = samples.passage_times.iter().map(|&ticks| samples.clock.seconds(ticks));
    let mean = times.clone().sum::<f64>() / n;
    let moment = |power: i32| times.clone().map(|time| (time - mean).powi(power)).sum::<f64>() / n;
    match measure {
        Measure::PassageCdf(_, at) => {
            let share = times.filter(|time| time <= at).count() as f64 / n;
            Estimated { value: share, error: (share * (1.0 - share) / n).sqrt() }
        }
        // the variance of a sample variance is (m4 - m2^2) / n
        Measure::PassageSd(_) => {
            let (second, fourth) = (moment(2), moment(4));
            let sd = second.sqrt();
            Estimated { value: sd, error: ((fourth - second * second) / n).sqrt() / (2.0 * sd) }
        }
        _ => Estimated { value: mean, error: (moment(2) / n).sqrt() },
    }
}

/// Averages and throughputs with their exact values, compared with what one engine gives; what is wrong is returned.
pub(crate) fn compare(expected: &[(Measure, f64)], estimates: &[Estimated], share: f64, tiny: f64) -> Vec<String> {
    let mut wrong = Vec::new();
    for ((measure, exact), estimate) in expected.iter().zip(estimates) {
        if !estimate.agrees_with(*exact) {
            wrong.push(format!("{measure:?} is {estimate}, not {exact}"));
        }
        if !estimate.is_sharp(*exact, share, tiny) {
            wrong.push(format!("{measure:?} is known too roughly: {estimate}, exact {exact}"));
        }
    }
    wrong
}
