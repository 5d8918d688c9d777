//! How early, and how surely, is a straggler known? Reduces of 60 s, 5 % of them with a hot key, on 50 nodes that others use too:
//! the rule of the paper and the boundary that narrows, each with several settings.
//!
//! ```text
//! earlier run ──▶ model ─┐
//! run (cluster simulator) ┴──▶ agent ──▶ flags, beside who took more than 1.5 medians in the end
//! ```
//!
//! `--full` scores twenty runs with many settings (a minute or two); `--csv` prints the same as CSV.

use tailspn::diagnose::long_tail::experiment::{earlier_runs, paper_plan, recorded_run, score_runs};
use tailspn::diagnose::long_tail::{AgentSettings, Boundary, History, Model, PeerRule, Score};

fn paper(diff: f64, samples: u32, start_s: f64) -> (String, AgentSettings) {
    let boundary = Boundary::Fixed { peers: PeerRule::Diff };
    let settings = AgentSettings { boundary, diff, samples, start_s, start_share: 1.0, ..AgentSettings::paper() };
    (format!("paper,{diff},{samples},{start_s},"), settings)
}

fn adaptive(confidence: f64, samples: u32) -> (String, AgentSettings) {
    let settings = AgentSettings { boundary: Boundary::Adaptive { confidence }, samples, ..AgentSettings::adaptive() };
    (format!("adaptive,{},{samples},{},{confidence}", settings.diff, settings.start_s), settings)
}

/// The settings to compare: a few, or all that the documentation shows.
fn variants(full: bool) -> Vec<(String, AgentSettings)> {
    if !full {
        return vec![paper(0.5, 3, 5.0), paper(0.4, 3, 5.0), adaptive(0.5, 3), adaptive(0.9, 3)];
    }
    let diffs = [0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.8, 1.0].map(|diff| paper(diff, 3, 5.0));
    let samples = [1, 2, 4, 5].map(|samples| paper(0.5, samples, 5.0));
    let starts = [0.0, 2.0, 10.0].map(|start_s| paper(0.5, 3, start_s));
    let peers = [("half", PeerRule::Half), ("ignored", PeerRule::Ignored)].map(|(name, peers)| {
        (format!("paper ({name}),0.5,3,5,"), AgentSettings { boundary: Boundary::Fixed { peers }, ..AgentSettings::paper() })
    });
    let ours = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99].map(|confidence| adaptive(confidence, 3));
    let eager = [0.5, 0.7, 0.9].map(|confidence| adaptive(confidence, 2));
    [&diffs[..], &samples, &starts, &peers, &ours, &eager].concat()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let asked = |name: &str| std::env::args().any(|argument| argument == name);
    let (full, csv) = (asked("--full"), asked("--csv"));
    let plan = paper_plan();
    let model = Model::learn(&earlier_runs(&plan, if full { 3 } else { 1 })?)?.model;
    let runs = (0..if full { 20 } else { 2 }).map(|seed| recorded_run(&plan, seed)).collect::<Result<Vec<History>, _>>()?;
    println!("rule,diff,samples,start_s,confidence,stragglers,tasks,true_positive_rate,false_positive_rate,flag_point");
    let scores: Vec<Score> = variants(full)
        .into_iter()
        .map(|(name, settings)| {
            let score = score_runs(&runs, Some(&model), settings);
            let (hits, others) = (score.found(), score.wrong());
            let rate = |rate: Option<f64>| rate.map_or("-".to_owned(), |rate| format!("{rate:.4}"));
            let rates = [score.true_positive_rate(), score.false_positive_rate(), score.mean_flag_point()].map(rate).join(",");
            println!("{name},{},{},{rates}", hits.whole, hits.whole + others.whole);
            score
        })
        .collect();
    assert!(csv || scores.iter().all(|score| score.found().whole > 10), "there are stragglers to find");
    assert!(scores.iter().all(|score| score.mean_flag_point().is_some_and(|point| point < 0.25)), "they are found early");
    Ok(())
}
