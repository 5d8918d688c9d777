//! `tool bench`: measures the replications per second of this machine on the CPU and on a GPU, and how close a schedule on the GPU
//! comes to the bound by the GPU's arithmetic.

use std::time::Duration;

use tailspn::report::{Answer, BenchAdapter, BenchBound, BenchReport, BenchRow, BenchSpeed, BenchTimes, plain};
use tailspn::sim::gpu::{AdapterFacts, adapters};
use tailspn::sim::{Backend, Ensemble, RunError, Watch as _, run as replicate};

use crate::cli::args::BenchArgs;
use crate::cli::bench_nets::{Case, cases};
use crate::cli::exit::Exit;
use crate::cli::frame::{Ask, Asked, Form};
use crate::cli::notes::Failure;
use crate::cli::output::{ProgressDisplay, Terminal};
use crate::cli::watch::{Progress, catch_interrupt};

/// A number of replications that no measurement can finish.
const ENDLESS: u64 = 1 << 50;
/// Replications of the run that measures the setup time of a device.
const FIRST: u64 = 64;
/// Machine instructions of the schedule kernel per exponential variate, counted in the machine code for compute
/// capability 9.0: with 64-bit integers, and with products made from 32-bit ones.
const INSTRUCTIONS: [f64; 2] = [73.0, 211.0];
/// GPUs whose lanes times GHz are known: 132 multiprocessors of 128 lanes at 1.98 GHz.
const KNOWN: [(&str, f64); 2] = [("H100 80GB HBM3", 132.0 * 128.0 * 1.98), ("H200", 132.0 * 128.0 * 1.98)];

impl Ask for BenchArgs {
    fn form(&self) -> Form<'_> {
        Form::printed(&self.print)
    }

    /// Measures and prints.
    fn ask(&self, terminal: &Terminal) -> Result<Asked<'_>, Failure> {
        measured(self, terminal)
    }
}

fn measured(args: &BenchArgs, terminal: &Terminal) -> Result<Asked<'static>, Failure> {
    catch_interrupt(terminal);
    let mut report = BenchReport {
        seconds: args.seconds.as_secs_f64(),
        adapter: None,
        no_adapter: None,
        lanes_ghz: args.lanes_ghz,
        nets: Vec::new(),
    };
    let watch = Progress::new(ProgressDisplay::Nothing, "");
    for case in &cases().map_err(|error| Failure::plain(Exit::Internal, error))? {
        terminal.tell(&format!("measuring {}", case.name));
        let mut row = BenchRow {
            net: case.name.clone(),
            transitions: case.program.transitions(),
            cpu: None,
            gpu: None,
            no_gpu: None,
            ratio: None,
            bound: None,
        };
        if args.backend.0 != Backend::Gpu {
            row.cpu = Some(measure(case, &ensemble(args, Backend::Cpu, args.seconds), &watch)?.0);
        }
        if args.backend.0 != Backend::Cpu && report.no_adapter.is_none() {
            measure_card(case, args, &watch, &mut report, &mut row)?;
        }
        report.nets.push(row);
        if watch.stopped() {
            break;
        }
    }
    Ok(Answer::new(report).unless_stopped(watch.stopped()).into())
}

fn ensemble(args: &BenchArgs, backend: Backend, wall: Duration) -> Ensemble {
    Ensemble {
        replications: ENDLESS,
        max_wall: Some(wall),
        threads: args.threads,
        backend,
        adapter: args.adapter.clone(),
        ..Ensemble::default()
    }
}

/// Runs a net for the time of a measurement; returns the speed and the adapter's name.
fn measure(case: &Case, ensemble: &Ensemble, watch: &Progress) -> Result<(BenchSpeed, Option<String>), Failure> {
    let found = replicate(&case.program, &case.question, ensemble, watch)?;
    let from = &found.provenance;
    let device = from.placement.device.as_ref();
    let setup = device.map_or(Duration::ZERO, |device| device.times.setup);
    let seconds = from.wall.saturating_sub(setup).as_secs_f64().max(f64::MIN_POSITIVE);
    let share = |time: Duration| time.as_secs_f64() / seconds;
    let speed = BenchSpeed {
        engine: from.engine.to_string().into(),
        vector: device.is_none().then(|| from.vector.to_string().into()),
        threads: device.is_none().then_some(from.threads),
        replications: found.samples.replications,
        seconds,
        replications_per_s: found.samples.replications as f64 / seconds,
        firings_per_s: found.samples.firings as f64 / seconds,
        times: device.map(|device| BenchTimes {
            setup_s: setup.as_secs_f64(),
            upload: share(device.times.upload),
            compute: share(device.times.compute),
            read_back: share(device.times.read_back),
        }),
    };
    Ok((speed, device.map(|device| device.adapter.clone())))
}

/// Runs a net on the GPU, if there is a GPU and it supports the net.
fn measure_card(
    case: &Case,
    args: &BenchArgs,
    watch: &Progress,
    report: &mut BenchReport,
    row: &mut BenchRow,
) -> Result<(), Failure> {
    let first = Ensemble { replications: FIRST, max_wall: None, ..ensemble(args, Backend::Gpu, args.seconds) };
    let ready = match replicate(&case.program, &case.question, &first, watch) {
        Ok(run) => run.provenance.wall,
        Err(RunError::GpuUnfit { reasons, .. }) => {
            row.no_gpu = Some(reasons.join("; "));
            return Ok(());
        }
        Err(RunError::Gpu(error)) if args.backend.0 == Backend::Auto && args.adapter.is_none() => {
            report.no_adapter = Some(error.to_string());
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let mut wall = args.seconds + ready;
    let (speed, name) = loop {
        let measured = measure(case, &ensemble(args, Backend::Gpu, wall), watch)?;
        // on a busy machine, the setup may take longer than when it was measured
        if measured.0.replications > 0 || watch.stopped() {
            break measured;
        }
        wall *= 2;
    };
    if report.adapter.is_none() {
        let facts = adapters().into_iter().find(|facts| name.as_ref() == Some(&facts.name));
        report.adapter = facts.map(adapter);
    }
    report.lanes_ghz = report.lanes_ghz.or_else(|| known(&report.adapter.as_ref()?.name));
    row.ratio = row.cpu.as_ref().map(|cpu| speed.replications_per_s / cpu.replications_per_s);
    row.bound = bound(case, &speed, report);
    row.gpu = Some(speed);
    Ok(())
}

fn adapter(facts: AdapterFacts) -> BenchAdapter {
    BenchAdapter { name: facts.name, kind: facts.kind.name().into(), driver: facts.driver, int64: facts.int64 }
}

/// Returns the lanes times GHz of a GPU, if known.
fn known(name: &str) -> Option<f64> {
    KNOWN.iter().find(|(part, _)| name.contains(part)).map(|(_, lanes_ghz)| *lanes_ghz)
}

/// Returns the upper bound of the schedule kernel's speed. The race kernel waits for loads, so a bound by arithmetic says little.
fn bound(case: &Case, speed: &BenchSpeed, report: &BenchReport) -> Option<BenchBound> {
    if speed.engine != "schedule" {
        return None;
    }
    let int64 = report.adapter.as_ref().is_some_and(|adapter| adapter.int64);
    let instructions = INSTRUCTIONS[usize::from(!int64)];
    let lanes_ghz = report.lanes_ghz?;
    let per_s = lanes_ghz * 1e9 / instructions;
    let by = format!("{instructions} instructions each, {} lanes × GHz", plain(lanes_ghz));
    let reached = speed.replications_per_s * case.program.timed.len() as f64 / per_s;
    Some(BenchBound { per_s, of: "exponentials".into(), by, reached })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_of_a_known_card_is_that_of_the_documentation() {
        let lanes_ghz = known("NVIDIA H200 NVL").unwrap();
        assert!((lanes_ghz * 1e9 / INSTRUCTIONS[0] / 4.6e11 - 1.0).abs() < 0.01);
        assert!((lanes_ghz * 1e9 / INSTRUCTIONS[1] / 1.6e11 - 1.0).abs() < 0.01);
        assert_eq!(known("NVIDIA H100 PCIe"), None);
        assert_eq!(known("llvmpipe"), None);
    }
}
