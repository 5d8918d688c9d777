//! Every model with known values by every engine that can run it.
//!
//! The expectation file of a model, in the same folder, names the engines that must run, so that none drops out
//! unnoticed. Warm-ups are so long that the chain is within 1e-12 of its steady state (stated in the files, by
//! uniformization), so there is no bias.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tailspn::formats::pipe::{ReadOptions, read};
use tailspn::sim::{EngineChoice, RunError};

use crate::measure::{ENGINES, Estimated, Measure, Steady, Subject, compare};

/// Largest standard error over the exact value.
const SHARPNESS: f64 = 0.005;
/// Values below this need a standard error of [`SHARPNESS`] of this only.
const TINY: f64 = 0.02;

/// Share of the replications to run, and the resulting accuracy of the values.
#[derive(Clone, Copy)]
struct Sample {
    /// One of so many.
    share: u64,
    /// They are observed so many times shorter.
    shorter: f64,
    sharpness: f64,
    tiny: f64,
}

const WHOLE: Sample = Sample { share: 1, shorter: 1.0, sharpness: SHARPNESS, tiny: TINY };

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expectation {
    run: RunHints,
    measure: Vec<ExpectedMeasure>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunHints {
    warm_up: Option<f64>,
    horizon: Option<f64>,
    replications: Option<u64>,
    /// Engines that answer the averages and throughputs.
    #[serde(default)]
    engines: Vec<String>,
    passage_replications: Option<u64>,
    /// Engines that answer the passage times.
    #[serde(default)]
    passage_engines: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedMeasure {
    name: String,
    value: f64,
    unit: String,
    source: String,
}

fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/textbook");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut models: Vec<_> = paths.filter(|path| path.extension().is_some_and(|e| e == "xml")).collect();
    models.sort();
    models
}

fn expectation(model: &Path) -> Expectation {
    let path = model.with_extension("expect.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|_| panic!("{} has no expectation file", model.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Asks every engine, checks that those which answer are the ones that should, and compares.
fn ask_all(
    expected: &[(Measure, f64)],
    engines: &[String],
    (sharpness, tiny): (f64, f64),
    ask: impl Fn(EngineChoice) -> Result<Vec<Estimated>, RunError>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut answered = Vec::new();
    for (engine, name) in ENGINES {
        match ask(engine) {
            Ok(estimates) => {
                answered.push(name.to_owned());
                wrong
                    .extend(compare(expected, &estimates, sharpness, tiny).into_iter().map(|w| format!("{name}: {w}")));
            }
            Err(RunError::Engine { .. }) => {}
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    if answered != engines {
        wrong.push(format!("the engines {answered:?} answered, not {engines:?}"));
    }
    wrong
}

/// `share` of the replications; `prepare` may have the net run elsewhere too.
fn check(
    model: &Path,
    Sample { share, shorter, sharpness, tiny }: Sample,
    prepare: impl Fn(Subject) -> Subject,
) -> Vec<String> {
    let Expectation { run, measure } = expectation(model);
    let read = read(&fs::read(model).unwrap(), &ReadOptions::default()).unwrap();
    assert!(read.warnings.is_empty(), "{}: {:?}", model.display(), read.warnings);
    let subject = prepare(Subject::new(read.net));
    let mut averages = Vec::new();
    let mut passages: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for m in &measure {
        assert!(!m.unit.is_empty() && !m.source.is_empty(), "{}: {} has no unit or source", model.display(), m.name);
        let parsed =
            Measure::parse(&m.name).unwrap_or_else(|| panic!("{}: unknown measure {}", model.display(), m.name));
        match parsed.condition() {
            Some(condition) => passages.entry(condition.to_owned()).or_default().push((parsed, m.value)),
            None => averages.push((parsed, m.value)),
        }
    }
    let of = |expected: &[(Measure, f64)]| expected.iter().map(|(measure, _)| measure.clone()).collect::<Vec<_>>();
    let mut wrong = Vec::new();
    if !averages.is_empty() {
        let (warm_up, horizon) = (run.warm_up.unwrap(), run.horizon.unwrap());
        let steady = Steady {
            warm_up,
            horizon: warm_up + (horizon - warm_up) / shorter,
            replications: run.replications.unwrap() / share,
        };
        let asked = of(&averages);
        wrong.extend(ask_all(&averages, &run.engines, (sharpness, tiny), |engine| {
            subject.steady(&asked, steady, engine)
        }));
    }
    for expected in passages.values() {
        let asked = of(expected);
        let replications = run.passage_replications.unwrap() / share;
        wrong.extend(ask_all(expected, &run.passage_engines, (sharpness, tiny), |engine| {
            subject.passage(&asked, replications, engine)
        }));
    }
    let name = model.file_stem().unwrap().to_string_lossy().into_owned();
    wrong.into_iter().map(|w| format!("{name}: {w}")).collect()
}

/// Seen to fail with the service rate of M/M/1/5 off by 2%, with the weights of a choice reversed, with capacities
/// ignored, and with throughputs that count the warm-up.
#[test]
fn every_model_has_its_known_values_on_every_engine() {
    let models = models();
    assert!(models.len() >= 14, "models are missing");
    let wrong: Vec<String> = models.iter().flat_map(|model| check(model, WHOLE, |subject| subject)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A software adapter is slow, so it runs a part of the replications: enough for the known values. Every number must
/// equal the CPU's, which has passed with all replications.
#[cfg(feature = "gpu")]
fn check_on_a_device(models: &[PathBuf]) {
    const PART: Sample = Sample { share: 16, shorter: 32.0, sharpness: 24.0 * SHARPNESS, tiny: 24.0 * TINY };
    let adapters = tailspn::sim::gpu::adapters();
    let adapter =
        std::env::var("TAILSPN_ADAPTER").unwrap_or_else(|_| adapters.first().expect("an adapter").name.clone());
    let on = |subject: Subject| subject.on(adapter.clone());
    let wrong: Vec<String> = models.iter().flat_map(|model| check(model, PART, on)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A schedule, and several servers. The software adapter takes seconds to compile the kernels of each model, so the other models
/// run every night; `gpu::tests` compares their features with the CPU bit for bit.
#[cfg(feature = "gpu")]
#[test]
fn some_models_have_their_known_values_on_a_device() {
    const SOME: [&str; 2] = ["small_job.xml", "mm2k_servers.xml"];
    let chosen: Vec<PathBuf> =
        models().into_iter().filter(|model| SOME.iter().any(|name| model.ends_with(name))).collect();
    assert_eq!(chosen.len(), SOME.len());
    check_on_a_device(&chosen);
}

#[cfg(feature = "gpu")]
#[test]
#[ignore = "nightly: the software adapter takes seconds to compile the kernels of each model"]
fn every_model_has_its_known_values_on_a_device() {
    check_on_a_device(&models());
}

#[test]
fn every_model_is_in_the_index() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let index = fs::read_to_string(folder.join("README.md")).unwrap();
    for model in models() {
        let name = model.file_name().unwrap().to_string_lossy().into_owned();
        assert!(index.contains(&format!("(textbook/{name})")), "{name} is missing in models/README.md");
    }
}
