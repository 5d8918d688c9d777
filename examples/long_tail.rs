//! How early, and how surely, is a straggler known? Reduces of 60 s, 5 % of them with a hot key, on 50 nodes that others use too:
//! the rule of the paper and the boundary that narrows, each with several settings.
//!
//! ```text
//! earlier runs ──▶ model ──┐
//! run (cluster simulator) ─┴─▶ agent ──▶ flags, beside who took more than 1.5 medians in the end
//! ```
//!
//! `--full` scores twenty runs with many settings (a minute); `--csv` prints CSV.

use tailspn::diagnose::long_tail::experiment::{earlier_runs, paper_plan, recorded_run, score_runs};
use tailspn::diagnose::long_tail::{AgentSettings, Boundary, History, Model, PeerRule, Share};
use tailspn::estimate::wilson;

type Variant = (String, AgentSettings);

fn paper(diff: f64, samples: u32, start_s: f64, peers: PeerRule) -> Variant {
    let boundary = Boundary::Fixed { peers };
    let name = format!("paper, peers {}", format!("{peers:?}").to_lowercase());
    (name, AgentSettings { boundary, diff, samples, start_s, start_share: 1.0, ..AgentSettings::paper() })
}

fn adaptive(confidence: f64, samples: u32) -> Variant {
    let boundary = Boundary::Adaptive { confidence };
    (format!("adaptive, {confidence}"), AgentSettings { boundary, samples, ..AgentSettings::adaptive() })
}

/// The settings to compare: a few, or all that the documentation shows.
fn variants(full: bool) -> Vec<Variant> {
    let diff = PeerRule::Diff;
    if !full {
        return vec![paper(0.5, 3, 5.0, diff), paper(0.3, 3, 5.0, diff), adaptive(0.5, 3), adaptive(0.9, 3)];
    }
    let diffs = [0.3, 0.4, 0.5, 0.6, 0.8, 1.0].map(|value| paper(value, 3, 5.0, diff));
    let peers = [PeerRule::Half, PeerRule::Ignored].map(|peers| paper(0.5, 3, 5.0, peers));
    let samples = [1, 2, 4, 5].map(|samples| paper(0.5, samples, 5.0, diff));
    let starts = [0.0, 2.0, 10.0].map(|start_s| paper(0.5, 3, start_s, diff));
    let ours = [0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99].map(|confidence| adaptive(confidence, 3));
    let others = [1, 2, 5].map(|samples| adaptive(0.8, samples));
    [&diffs[..], &peers, &samples, &starts, &ours, &others].concat()
}

fn rate(share: Share, csv: bool) -> Result<String, Box<dyn std::error::Error>> {
    let rate = wilson(share.part, share.whole, 0.95)?;
    let [value, low, high] = [rate.value, rate.low, rate.high].map(|value| 100.0 * value);
    Ok(if csv { format!("{value},{low},{high}") } else { format!("{value:6.2} % ({low:5.2} to {high:6.2})") })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let asked = |name: &str| std::env::args().any(|argument| argument == name);
    let (full, csv) = (asked("--full"), asked("--csv"));
    let plan = paper_plan();
    let model = Model::learn(&earlier_runs(&plan, if full { 3 } else { 1 })?)?.model;
    let seeds = 0..if full { 20 } else { 2 };
    let runs = seeds.map(|seed| recorded_run(&plan, seed)).collect::<Result<Vec<History>, _>>()?;
    let tpr = if csv { "tpr,tpr_low,tpr_high,fpr,fpr_low,fpr_high" } else { "found, false alarms (95 %)" };
    println!("rule,diff,samples,start_s,{tpr},flag_point");
    for (name, settings) in variants(full) {
        let score = score_runs(&runs, Some(&model), settings);
        let (found, wrong) = (rate(score.found(), csv)?, rate(score.wrong(), csv)?);
        let point = 100.0 * score.mean_flag_point().ok_or("nothing was found")?;
        let AgentSettings { diff, samples, start_s, .. } = settings;
        if csv {
            println!("\"{name}\",{diff},{samples},{start_s},{found},{wrong},{point}");
        } else {
            println!(
                "{name:20} {diff:4} {samples:2} {start_s:3} s {found} {wrong}, flagged at {point:5.2} % of their time"
            );
        }
        assert!(score.true_positive > score.false_negative && point < 25.0, "most are found, and early");
    }
    Ok(())
}
