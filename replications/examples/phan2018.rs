//! How good are three straggler detectors, and what do copies change? The experiments of Phan et al. 2018, beside the
//! paper's numbers.
//!
//! ```text
//! 20 nodes with 1 to 4 active cores, 8 slots each ── 320 maps in two waves, 160 reduces
//! ```
//!
//! Every cell is printed as ours / paper / distance. What explains the distances is in
//! docs/replications/straggler-metrics.md.

use std::error::Error;

use tailspn::cluster::metrics::{Metric, Tally};
use tailspn::cluster::truth::share_of_stragglers;
use tailspn::cluster::{Experiment, Outcome, Plan, PolicyPlan, PolicyRuns, Replications, SlotShare, homogeneous_times};
use tailspn::watch::Unwatched;
use tailspn_replications::straggler_metrics;

const REPLICATIONS: u64 = 100;

fn runs(scenario: usize, policies: Vec<PolicyPlan>) -> Result<Vec<PolicyRuns>, Box<dyn Error>> {
    let plan = straggler_metrics::scenario(scenario, policies);
    let settings = Replications { count: REPLICATIONS, seed: 1, threads: None, ..Replications::default() };
    Ok(Experiment::new(&plan, settings)?.run(&mut |_| true)?)
}

fn cells(run: &PolicyRuns, metrics: &[Metric], paper: &[f64]) -> Vec<String> {
    let mut tally = Tally::default();
    run.outcomes.iter().for_each(|outcome| tally.merge(&outcome.maps));
    let cell = |(metric, paper): (&Metric, &f64)| match tally.metric(*metric) {
        Some(ours) => format!("{ours:.2} / {paper:.2} / {:.2}", (ours - paper).abs()),
        None => format!("- / {paper:.2} / -"),
    };
    metrics.iter().zip(paper).map(cell).collect()
}

/// Rows of a table, the header first.
fn table(metrics: &[&str]) -> Vec<Vec<String>> {
    vec![[""].iter().chain(metrics).map(|name| (*name).to_owned()).collect()]
}

fn text(rows: &[Vec<String>]) -> String {
    let row = |row: &Vec<String>| {
        let cells: String = row[1..].iter().map(|cell| format!("  {cell:>20}")).collect();
        format!("  {:<20}{cells}\n", row[0])
    };
    rows.iter().map(row).collect()
}

fn table_5() -> Result<(), Box<dyn Error>> {
    let mut times = homogeneous_times(&Plan::default(), 1, &Unwatched)?;
    times.truncate(320);
    println!("table 5: share of maps above 1.2 times their X-quantile, 10 homogeneous runs (ours / paper / distance)");
    for [quantile, paper] in straggler_metrics::TABLE_5 {
        let ours = share_of_stragglers(&mut times, quantile, 1.2)?;
        println!(
            "  X {quantile:<4}  {:.2} % / {:.2} % / {:.2} %",
            100.0 * ours,
            100.0 * paper,
            100.0 * (ours - paper).abs()
        );
    }
    Ok(())
}

fn table_6() -> Result<(), Box<dyn Error>> {
    let mut rows = table(&["precision", "recall", "latency", "fake", "undetected"]);
    let metrics =
        [Metric::Precision, Metric::Recall, Metric::DetectionLatency, Metric::FakePositives, Metric::UndetectedTime];
    for (scenario, paper) in straggler_metrics::TABLE_6.iter().enumerate() {
        for (run, paper) in runs(scenario, straggler_metrics::watching(20.0))?.iter().zip(paper) {
            let name = format!("C{} {}", scenario + 1, run.policy.title());
            rows.push(std::iter::once(name).chain(cells(run, &metrics, paper)).collect());
        }
    }
    println!("\ntable 6: detectors in four scenarios, nothing done (ours / paper / distance)\n{}", text(&rows));
    Ok(())
}

fn figure_3() -> Result<(), Box<dyn Error>> {
    println!("figure 3: fake positives of Default by lag, C2 (the paper: 0.14 at 60 s, small at 20 s)");
    for lag_s in [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0] {
        let found = runs(1, straggler_metrics::watching(lag_s))?;
        let mut tally = Tally::default();
        found[0].outcomes.iter().for_each(|outcome| tally.merge(&outcome.maps));
        println!("  {lag_s:>4} s  {:.3}", tally.metric(Metric::FakePositives).unwrap_or(0.0));
    }
    Ok(())
}

fn mean(run: &PolicyRuns, value: fn(&Outcome) -> f64) -> f64 {
    run.outcomes.iter().map(value).sum::<f64>() / run.outcomes.len() as f64
}

fn table_7_and_figures() -> Result<(), Box<dyn Error>> {
    let metrics = [Metric::Precision, Metric::Recall, Metric::DetectionLatency, Metric::UndetectedTime];
    let mut rows = table(&["precision", "recall", "latency", "undetected"]);
    let mut figures = table(&["time (fig. 4)", "energy (fig. 5)", "copies (fig. 6)", "successful"]);
    let mut base = None;
    for (slots, paper) in straggler_metrics::RESERVATIONS.into_iter().zip(straggler_metrics::TABLE_7) {
        for (run, paper) in runs(1, straggler_metrics::reserving(slots))?.iter().zip(&paper) {
            let x = match slots {
                SlotShare::Tasks(share) => format!("{}", 100.0 * share),
                SlotShare::Shared => "Shared".to_owned(),
            };
            let name = format!("{x} {}", run.policy.title());
            let (time, energy) = (mean(run, |outcome| outcome.job_s), mean(run, |outcome| outcome.energy_j));
            let (time_100, energy_100) = *base.get_or_insert((time, energy));
            let copies = [mean(run, |outcome| outcome.copies.into()), mean(run, |outcome| outcome.won.into())];
            let ratios = [time / time_100, energy / energy_100].map(|ratio| format!("{ratio:.2}"));
            let copies = copies.map(|count| format!("{count:.0}"));
            figures.push(std::iter::once(name.clone()).chain(ratios).chain(copies).collect());
            rows.push(std::iter::once(name).chain(cells(run, &metrics, paper)).collect());
        }
    }
    println!("\ntable 7: detectors by reservation, C2 (ours / paper / distance)\n{}", text(&rows));
    println!("figures 4 to 6: against Default at 100\n{}", text(&figures));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    table_5()?;
    table_6()?;
    figure_3()?;
    table_7_and_figures()
}
