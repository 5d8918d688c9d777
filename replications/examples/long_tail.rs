//! How early, and how surely, is a straggler known? Reduces of 60 s, 5% of them with a hot key, on 50 nodes that others use too:
//! the rule of the paper and the boundary that narrows, each with several settings.
//!
//! ```text
//! earlier runs ──▶ model ──┐
//! run (cluster simulator) ─┴─▶ agent ──▶ flags, beside who took more than 1.5 medians in the end
//! ```
//!
//! `--full` scores twenty runs with many settings (a minute); `--csv` prints CSV; `--svg FILE` draws the trade-off.

use tailspn::diagnose::long_tail::{AgentSettings, Boundary, History, Model, PeerRule, Score, Share};
use tailspn::estimate::wilson;
use tailspn_replications::long_tail::{earlier_runs, paper_plan, recorded_run, score_runs};
use tailspn_replications::trade_off::{TradeOff, trade_off_svg};

fn paper(diff: f64, samples: u32, start_s: f64, peers: PeerRule) -> AgentSettings {
    let boundary = Boundary::Fixed { peers };
    AgentSettings { boundary, diff, samples, start_s, start_share: 1.0, ..AgentSettings::paper() }
}

fn adaptive(confidence: f64, samples: u32) -> AgentSettings {
    AgentSettings { boundary: Boundary::Adaptive { confidence }, samples, ..AgentSettings::adaptive() }
}

/// Curves of settings with their labels: a few, or all that the documentation shows.
fn curves(full: bool) -> Vec<(&'static str, Vec<(String, AgentSettings)>)> {
    let diff = PeerRule::Diff;
    let some =
        |all: &[f64]| all.iter().copied().filter(|value| full || [0.3, 0.5, 0.9].contains(value)).collect::<Vec<_>>();
    let diffs = some(&[0.3, 0.4, 0.5, 0.6, 0.8]).into_iter().map(|d| (format!("Diff {d}"), paper(d, 3, 5.0, diff)));
    let sure = some(&[0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99]).into_iter().map(|c| (format!("{c}"), adaptive(c, 3)));
    let mut curves = vec![("paper, by Diff", diffs.collect()), ("adaptive, by confidence", sure.collect())];
    if full {
        let n = [1, 2, 4, 5].map(|n| (format!("n {n}"), paper(0.5, n, 5.0, diff)));
        let start = [0.0, 2.0, 10.0].map(|start| (format!("start {start} s"), paper(0.5, 3, start, diff)));
        let peers = [PeerRule::Half, PeerRule::Ignored];
        let peers = peers.map(|peers| (format!("peers {peers:?}").to_lowercase(), paper(0.5, 3, 5.0, peers)));
        let ours = [1, 2, 5].map(|n| (format!("0.8, n {n}"), adaptive(0.8, n)));
        curves.push(("other settings", [&n[..], &start, &peers, &ours].concat()));
    }
    curves
}

fn rate(share: Share, csv: bool) -> Result<String, Box<dyn std::error::Error>> {
    let rate = wilson(share.part, share.whole, 0.95)?;
    let [value, low, high] = [rate.value, rate.low, rate.high].map(|value| 100.0 * value);
    Ok(if csv { format!("{value},{low},{high}") } else { format!("{value:6.2} % ({low:5.2} to {high:6.2})") })
}

fn told(curve: &str, label: &str, score: &Score, csv: bool) -> Result<String, Box<dyn std::error::Error>> {
    let (found, wrong) = (rate(score.found(), csv)?, rate(score.wrong(), csv)?);
    let point = 100.0 * score.mean_flag_point().ok_or("nothing was found")?;
    Ok(if csv {
        format!("\"{curve}\",\"{label}\",{found},{wrong},{point}")
    } else {
        format!("{curve:24} {label:13} found {found}, false alarms {wrong}, flagged at {point:5.2} % of their time")
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let at = |name: &str| arguments.iter().position(|argument| argument == name);
    let (full, csv) = (at("--full").is_some(), at("--csv").is_some());
    let plan = paper_plan();
    let model = Model::learn(&earlier_runs(&plan, if full { 3 } else { 1 })?)?.model;
    let seeds = 0..if full { 20 } else { 2 };
    let runs = seeds.map(|seed| recorded_run(&plan, seed)).collect::<Result<Vec<History>, _>>()?;
    let mut drawn = Vec::new();
    for (curve, settings) in curves(full) {
        let mut points = Vec::new();
        for (label, settings) in settings {
            let score = score_runs(&runs, Some(&model), settings);
            println!("{}", told(curve, &label, &score, csv)?);
            assert!(score.true_positive > score.false_negative, "most are found");
            points.push((label, score));
        }
        drawn.push(TradeOff { name: curve.to_owned(), points });
    }
    if let Some(file) = at("--svg").and_then(|at| arguments.get(at + 1)) {
        std::fs::write(file, trade_off_svg(&drawn[..2])?)?;
    }
    Ok(())
}
