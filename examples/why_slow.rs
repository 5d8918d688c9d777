//! Finds out why some tasks were slow and what to do about it. Input: a log of 36 tasks on three workers, and samples of two of the
//! workers. A neighbour computed on worker2 for eight seconds, one task had three times the data, one collected garbage.
//!
//! ```text
//! event log ──▶ JobTrace ─┐
//! sadf -d ────▶ Samples ──┴▶ features ──▶ rules ──▶ findings ──▶ advice
//! ```

use tailspn::diagnose::Cause;
use tailspn::diagnose::causes::{CpuShare, NodeMap, PoolOptions, Rules, meters_of, root_causes};
use tailspn::diagnose::samples::{SampleOptions, read_samples_from_bytes};
use tailspn::trace::{ReadOptions, read_bytes};
use tailspn::watch::Unwatched;

const LOG: &[u8] = include_bytes!("../tests/data/diagnose/job/app-1");
const SAMPLES: &[u8] = include_bytes!("../tests/data/diagnose/job/nodes.sadf.csv");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let trace = read_bytes("app-1", LOG, &ReadOptions::default(), &Unwatched)?;
    let samples = read_samples_from_bytes("nodes.sadf.csv", SAMPLES, &SampleOptions::default())?;
    let (meters, missing) = meters_of(&trace, &samples, &NodeMap::default(), CpuShare::default());
    for node in missing {
        println!("node {}: {}", node.node, node.reason);
    }
    let found = root_causes(&trace, &meters, &PoolOptions::default(), &Rules::default());
    for finding in &found.findings {
        let evidence = &finding.evidence[0];
        println!(
            "{:?}: {:?}, {} {:.1} {} against {:.1}",
            finding.subject, finding.cause, evidence.what, evidence.value, evidence.unit, evidence.usual
        );
    }
    for piece in found.advice() {
        println!("{:?}, {:.1} s lost: {}", piece.cause, piece.lost_s, piece.text);
    }
    let causes = |cause| found.findings.iter().filter(|finding| finding.cause == cause).count();
    assert_eq!((causes(Cause::Cpu), causes(Cause::DataSkew), causes(Cause::GarbageCollection)), (3, 1, 1));
    assert_eq!(causes(Cause::Unknown), 0);
    Ok(())
}
