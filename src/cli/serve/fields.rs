//! The fields of the page of a job: options of `estimate`, each with the plan's value and the values of its slider.

use serde::Serialize;
use tailspn::mapreduce::{Factors, Plan};
use tailspn::plan::{DataSizeError, JobPlan, PlanOption};
use tailspn::stages::{SpeculativeCopies, StagePlan};

use crate::cli::args::workers;
use crate::cli::serve::reply::Refusal;
use crate::cli::{straggler_values, values};

/// A field of the page.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Field {
    /// Name of the option.
    option: &'static str,
    label: &'static str,
    /// The value of the plan, or an example of one.
    hint: String,
    /// Values of the option that the slider offers; empty for a field without a slider.
    choices: Vec<String>,
    /// Position of the plan's value among the choices.
    at: Option<usize>,
}

/// Returns the options that the text of a field stands for: none for an empty field, several for several kinds of workers.
pub(crate) fn options(name: &str, text: &str) -> Result<Vec<PlanOption>, Refusal> {
    if option(name, "").is_none() {
        return Err(Refusal::bad(format!("a job has no field `{name}`")));
    }
    let parts = if name == "workers" { text.split(',').collect() } else { vec![text] };
    let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
    let refused = |part: &str, why: String| Refusal::unanswerable(format!("`{part}` for `--{name}`: {why}"));
    parts.filter_map(|part| Some(option(name, part)?.map_err(|why| refused(part, why)))).collect()
}

/// Returns the option of a field, or why its text has no meaning; none for a field that a job does not have.
fn option(name: &str, text: &str) -> Option<Result<PlanOption, String>> {
    let (count, positive) = (values::count, values::positive_count);
    Some(match name {
        "input-size" => text.parse().map(PlanOption::InputSize).map_err(|error: DataSizeError| error.to_string()),
        "split-size" => text.parse().map(PlanOption::SplitSize).map_err(|error: DataSizeError| error.to_string()),
        "workers" => workers(text).map(|(kind, count)| PlanOption::Workers(kind, count)),
        "map-slots" => positive(text).map(PlanOption::MapSlots),
        "reduce-slots" => positive(text).map(PlanOption::ReduceSlots),
        "gpus-per-worker" => count(text).map(PlanOption::Gpus),
        "reduces" => count(text).map(PlanOption::Reduces),
        "stragglers" => straggler_values::stragglers(text).map(PlanOption::Stragglers),
        "speculation" => straggler_values::copies(text).map(PlanOption::Speculation),
        "deadline" => values::deadline(text).map(PlanOption::Deadline),
        "executors" => positive(text).map(PlanOption::Executors),
        "cores" => positive(text).map(PlanOption::Cores),
        "gpus-per-executor" => positive(text).map(PlanOption::GpusOfExecutor),
        "concurrent-gpu-tasks" => positive(text).map(PlanOption::ConcurrentGpuTasks),
        "partitions" => positive(text).map(PlanOption::Partitions),
        _ => return None,
    })
}

/// Returns the fields that apply to a plan.
pub(crate) fn fields(plan: &JobPlan) -> Vec<Field> {
    match plan {
        JobPlan::MapReduce(plan) => of_phases(plan),
        JobPlan::Stages(plan) => of_stages(plan),
        JobPlan::Tasks(_) => Vec::new(),
    }
}

fn of_phases(plan: &Plan) -> Vec<Field> {
    let mut fields = Vec::new();
    if plan.phases.as_ref().is_none_or(|phases| phases.maps.is_none()) {
        fields.push(size("input-size", "Input size", plan.job.input_mb, 0.0));
    }
    if plan.phases.is_none() {
        fields.push(size("split-size", "Input of a map task", plan.job.split_mb, plan.job.gpu_block_mb));
    }
    let nodes = &plan.cluster.node;
    let first = nodes.first();
    match &nodes[..] {
        [node] => fields.push(count("workers", "Workers", node.count)),
        _ => {
            let now: Vec<String> = nodes.iter().map(|node| format!("{}={}", node.name, node.count)).collect();
            fields.push(text("workers", "Workers of each kind", format!("now {}", now.join(", "))));
        }
    }
    fields.push(count("map-slots", "Map slots per worker", first.map_or(1, |node| node.map_slots)));
    fields.push(count("reduce-slots", "Reduce slots per worker", first.map_or(1, |node| node.reduce_slots)));
    if plan.stragglers.is_none() && plan.speculation.is_none() {
        let gpus = first.and_then(|node| node.gpus);
        let field = count("gpus-per-worker", "GPUs per worker", gpus.unwrap_or(1));
        let (hint, at) =
            if gpus.is_some() { (field.hint.clone(), field.at) } else { ("no waits for GPUs".to_owned(), None) };
        fields.push(Field { hint, at, ..field });
    }
    fields.push(count("reduces", "Reduce tasks", plan.reduces()));
    fields.push(stragglers(plan));
    let recalls = (1..=10).map(|tenth| format!("r={},p=0.82,dl=0.38", f64::from(tenth) / 10.0)).collect();
    let speculation = text("speculation", "Speculation: recall, precision, latency", "r=0.6,p=0.82,dl=0.38".to_owned());
    fields.push(Field { choices: recalls, ..speculation });
    fields.push(deadline(plan.job.deadline_s));
    fields
}

fn of_stages(plan: &StagePlan) -> Vec<Field> {
    let job = &plan.job;
    let input = plan.depends_on_input(2.0 * job.input_mb).then(|| {
        if job.input_is_relative { multiple(job.input_mb) } else { size("input-size", "Input size", job.input_mb, 0.0) }
    });
    let mut fields: Vec<Field> = input.into_iter().collect();
    fields.extend([
        count("executors", "Executors", job.executors.into()),
        count("cores", "Tasks per executor at a time", job.cores.into()),
    ]);
    if plan.stage.iter().any(|stage| stage.gpu > 0.0) {
        fields.push(count("gpus-per-executor", "GPUs per executor", job.gpus_per_executor.unwrap_or(1).into()));
        let permits = job.concurrent_gpu_tasks.unwrap_or(1);
        fields.push(count("concurrent-gpu-tasks", "Tasks per GPU at a time", permits.into()));
    }
    if plan.stage.iter().any(|stage| stage.uses_partitions) {
        fields.push(count("partitions", "Partitions of shuffles", job.partitions.unwrap_or(200).into()));
    }
    fields.push(copies(plan.speculation));
    fields.push(deadline(job.deadline_s));
    fields
}

/// Spark's speculation.
fn copies(now: Option<SpeculativeCopies>) -> Field {
    let choices = ["none", "spark4", "spark3"];
    let at = match now {
        None => Some(0),
        Some(copies) if copies == SpeculativeCopies::default() => Some(1),
        Some(copies) if copies == SpeculativeCopies::BEFORE_SPARK_4 => Some(2),
        Some(_) => None,
    };
    let settings = now.map(|copies| format!("now multiplier={},quantile={}", copies.multiplier, copies.quantile));
    let hint = match (at, settings) {
        (None, Some(settings)) => settings,
        (at, _) => format!("now {}", choices[at.unwrap_or(0)]),
    };
    Field { choices: choices.map(str::to_owned).to_vec(), at, ..text("speculation", "Speculation", hint) }
}

/// Returns a field without a slider.
fn text(option: &'static str, label: &'static str, hint: String) -> Field {
    Field { option, label, hint, choices: Vec::new(), at: None }
}

/// Returns a field for a number. The slider goes from 1 to four times the plan's value, in steps of at most a tenth.
fn count(option: &'static str, label: &'static str, now: u64) -> Field {
    let most = now.saturating_mul(4).max(16);
    let next = |n: &u64| Some(n + (n / 10).max(1)).filter(|n| *n <= most);
    let mut counts: Vec<u64> = std::iter::successors(Some(1), next).collect();
    counts.extend((now > 0).then_some(now));
    counts.sort_unstable();
    counts.dedup();
    let at = counts.iter().position(|count| *count == now);
    Field { option, label, hint: format!("now {now}"), choices: counts.iter().map(u64::to_string).collect(), at }
}

/// Returns a field for a data size. The slider goes from a sixteenth to sixteen times the plan's value, above
/// `least_mb`.
fn size(option: &'static str, label: &'static str, now_mb: f64, least_mb: f64) -> Field {
    let sizes = || around(16, 4).map(|factor| now_mb * factor).filter(|mb| *mb > least_mb || *mb >= now_mb);
    let at = sizes().position(|mb| mb >= now_mb);
    Field { option, label, hint: format!("now {}", written(now_mb)), choices: sizes().map(written).collect(), at }
}

/// Returns a field for an input whose size is known only as a multiple of the logged run's.
fn multiple(now: f64) -> Field {
    // each choice multiplies the input of the plan
    let times: Vec<f64> = around(16, 4).collect();
    let at = times.iter().position(|times| *times >= 1.0);
    let choices = times.iter().map(|times| format!("{}x", digits(*times))).collect();
    Field {
        option: "input-size",
        label: "Input size",
        hint: format!("now {} times that of the log", digits(now)),
        choices,
        at,
    }
}

/// Returns a size with two digits or more.
fn written(mb: f64) -> String {
    let (number, unit) = if mb >= 1024.0 { (mb / 1024.0, "GB") } else { (mb, "MB") };
    format!("{}{unit}", digits(number))
}

/// Returns a number with two digits, or all digits before the point.
fn digits(number: f64) -> String {
    let decimals = (1.0 - number.abs().log10().floor()).clamp(0.0, 6.0);
    let text = format!("{number:.0$}", decimals as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Returns the factors 2^(-reach/steps) to 2^(reach/steps), `steps` per doubling; the factor 1 is at index `reach`.
fn around(reach: i32, steps: i32) -> impl Iterator<Item = f64> {
    (-reach..=reach).map(move |i| 2_f64.powf(f64::from(i) / f64::from(steps)))
}

/// Returns the field for the deadline. The slider goes from half to twice the plan's deadline, or from 1 s to two
/// days.
fn deadline(now_s: Option<f64>) -> Field {
    let field = text("deadline", "Deadline", "such as 85s".to_owned());
    match now_s {
        Some(now_s) => {
            let choices = around(20, 20).map(|factor| format!("{:.1}s", now_s * factor)).collect();
            Field { choices, at: Some(20), hint: format!("now {now_s} s"), ..field }
        }
        None => {
            let choices = (0..=140).map(|i| format!("{}s", digits(2_f64.powf(f64::from(i) / 8.0)))).collect();
            Field { choices, ..field }
        }
    }
}

/// Returns the field for the share of stragglers, with the plan's factor.
fn stragglers(plan: &Plan) -> Field {
    let now = plan.stragglers.as_ref();
    let factor = match now.map(|stragglers| &stragglers.factor) {
        Some(Factors::Several(pairs)) => {
            pairs.iter().map(|[probability, factor]| format!("{factor}@{probability}")).collect::<Vec<_>>().join(",")
        }
        Some(Factors::One(factor)) => factor.to_string(),
        None => "3".to_owned(),
    };
    let share = now.map_or(0.0, |stragglers| stragglers.share);
    let mut shares: Vec<f64> = (0..=25).map(|i| f64::from(2 * i) / 100.0).collect();
    shares.push(share);
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    let at = shares.iter().position(|other| other.total_cmp(&share).is_eq());
    let choices = shares.iter().map(|share| format!("{share}:{factor}")).collect();
    let hint = if now.is_some() { format!("now {share}:{factor}") } else { "such as 0.1:3".to_owned() };
    Field { option: "stragglers", label: "Stragglers: share and factor", hint, choices, at }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAGES: &str = "[job]\ninput_mb = 64\nexecutors = 2\ncores = 1\n\
                          [[stage]]\ngpu = 0.5\nuses_partitions = true\ntasks = { fixed = 4 }\ncold = { fixed_s = 3 }\nwarm = { fixed_s = 1 }\n";

    #[test]
    fn each_slider_has_the_plan_at_its_place() {
        for text in ["", "[job]\ndeadline_s = 90\n[stragglers]\nshare = 0.07\n", STAGES] {
            let plan = JobPlan::from_toml(text).unwrap();
            for field in fields(&plan) {
                for choice in &field.choices {
                    let parsed = options(field.option, choice);
                    assert!(parsed.as_ref().is_ok_and(|options| options.len() == 1), "{field:?}: {parsed:?}");
                }
                assert!(field.at.is_none_or(|at| at < field.choices.len()), "{field:?}");
                let distinct: std::collections::BTreeSet<_> = field.choices.iter().collect();
                assert_eq!(distinct.len(), field.choices.len(), "{field:?}");
            }
        }
    }

    #[test]
    fn values_of_sliders_are_short() {
        let field = count("workers", "", 4);
        assert_eq!((field.choices[field.at.unwrap()].as_str(), field.choices.len()), ("4", 16));
        let field = size("input-size", "", 10_240.0, 0.0);
        assert_eq!((&*field.choices[0], &*field.choices[16], &*field.choices[17]), ("640MB", "10GB", "12GB"));
        assert_eq!(digits(0.0123), "0.012");
    }

    #[test]
    fn a_plan_has_only_fields_that_mean_something() {
        let names = |text: &str| -> Vec<&str> {
            fields(&JobPlan::from_toml(text).unwrap()).iter().map(|field| field.option).collect()
        };
        assert!(names(STAGES).contains(&"concurrent-gpu-tasks") && names(STAGES).contains(&"partitions"));
        let plain = STAGES.replace("gpu = 0.5\nuses_partitions = true\n", "");
        assert!(!names(&plain).contains(&"concurrent-gpu-tasks") && !names(&plain).contains(&"partitions"));
        let given = "[phases]\nmaps = 1\nmeans_s = [1, 1, 1, 1, 1, 1, 1, 1, 1]";
        assert!(!names(given).contains(&"input-size") && !names(given).contains(&"split-size"));
    }
}
