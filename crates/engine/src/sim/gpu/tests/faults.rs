//! Faults of a real device, not scripted ones: each becomes an error of its own kind, and nothing is counted.

use std::sync::Arc;

use crate::rng::split;
use crate::sim::conformance::{straggling_tasks, two_loops};
use crate::sim::engines::Kind;
use crate::sim::gpu::device::Wanted;
use crate::sim::gpu::engine::DeviceFault;
use crate::sim::gpu::twin::device_engine;
use crate::sim::gpu::{DeviceEngine, Form, Gpu, GpuError, GpuRace};
use crate::sim::race::Setup;
use crate::sim::{Clock, Goal, Question, Samples};
use crate::watch::Unwatched;

/// A separate device, because the test makes it unusable.
fn own_device() -> Gpu {
    Gpu::open(Wanted::Any).unwrap()
}

#[test]
fn a_device_that_goes_away_between_two_chunks_is_an_error() {
    let program = two_loops(3);
    let question = Question { goal: Goal::Horizon, horizon: Some(5.0), ..Question::default() };
    let clock = Clock::choose(&program, question.horizon);
    let setup =
        Setup { program: &program, question: &question, clock, key: split(1), keep_times: true, watch: &Unwatched };
    for form in [Form::Direct, Form::Clock] {
        let gpu = Arc::new(own_device());
        let mut engine = GpuRace::new(&gpu, setup, form).unwrap();
        let mut samples = Samples::new(clock, &question, program.counters(), program.transitions());
        assert_eq!(engine.run(0, 100, &mut samples, &|| false).unwrap(), 100);
        gpu.device.destroy();
        let before = samples.clone();
        let fault = engine.run(100, 100, &mut samples, &|| false).unwrap_err();
        assert!(matches!(fault, DeviceFault::Gpu(GpuError::Lost { .. })), "{fault:?}");
        assert_eq!(samples, before, "nothing of the chunk is counted");
        let again = GpuRace::new(&gpu, setup, form).and_then(|mut engine| engine.run(0, 100, &mut samples, &|| false));
        assert!(matches!(again, Err(DeviceFault::Gpu(_))) && samples == before, "nothing new runs there: {again:?}");
    }
}

#[test]
fn too_large_buffers_and_invalid_shaders_are_errors() {
    let gpu = own_device();
    let most = gpu.device.limits().max_buffer_size;
    let beyond = gpu.storage(most + 1).unwrap_err();
    assert!(matches!(beyond, GpuError::OutOfMemory { bytes } if bytes > most), "{beyond:?}");
    let refused = gpu.kernel("garbage", "fn main() { let a: u32 = -1.5; }").unwrap_err();
    assert!(matches!(&refused, GpuError::Shader { shader: "garbage", .. }), "{refused:?}");
    assert!(!refused.to_string().contains('\0') && refused.to_string().contains("garbage"));
    // the device is still usable
    assert!(gpu.storage(1024).is_ok() && gpu.lost().is_none());
}

/// Runs `count` replications, then the same number while `kernel` skips `groups` workgroups, and returns the fault. The
/// samples must not change.
fn fault_of_skipped(
    gpu: &Gpu,
    engine: &mut dyn DeviceEngine,
    samples: &mut Samples,
    count: u64,
    (kernel, groups): (&'static str, u32),
) -> DeviceFault {
    assert_eq!(engine.run(0, count, samples, &|| false).unwrap(), count);
    let before = samples.clone();
    *gpu.proof.skipped.lock().unwrap() = Some((kernel, groups));
    let fault = engine.run(count, count, samples, &|| false).unwrap_err();
    assert_eq!(*samples, before, "nothing of the chunk is counted");
    fault
}

/// A driver skips a dispatch, or one of its workgroups, and reports success. This test was seen to fail without the
/// counter.
#[test]
fn work_that_a_driver_leaves_out_is_an_error_and_counts_nothing() {
    let program = two_loops(3);
    let question = Question { goal: Goal::Horizon, horizon: Some(5.0), ..Question::default() };
    let clock = Clock::choose(&program, question.horizon);
    let setup =
        Setup { program: &program, question: &question, clock, key: split(1), keep_times: true, watch: &Unwatched };
    for (form, skipped, groups) in [
        (Form::Clock, "race", 1),
        (Form::Clock, "race", u32::MAX),
        (Form::Direct, "race", u32::MAX),
        (Form::Direct, "reduce", u32::MAX),
        (Form::Clock, "reduce", 1),
    ] {
        let gpu = Arc::new(own_device());
        let mut engine = GpuRace::new(&gpu, setup, form).unwrap();
        let mut samples = Samples::new(clock, &question, program.counters(), program.transitions());
        let fault = fault_of_skipped(&gpu, &mut engine, &mut samples, 160, (skipped, groups));
        let DeviceFault::Gpu(GpuError::Unfinished { kernel, .. }) = fault else { panic!("{fault:?}") };
        assert_eq!(kernel, skipped);
    }
    let program = straggling_tasks(2, &[]);
    let question = Question::default();
    let clock = Clock::choose(&program, None);
    let setup =
        Setup { program: &program, question: &question, clock, key: split(1), keep_times: false, watch: &Unwatched };
    for (skipped, groups) in [("schedule", 1), ("schedule", u32::MAX), ("reduce", 1)] {
        let gpu = Arc::new(own_device());
        let mut engine = device_engine(Kind::Schedule, &gpu, setup, 1).unwrap();
        let mut samples = Samples::new(clock, &question, program.counters(), program.transitions());
        let fault = fault_of_skipped(&gpu, engine.as_mut(), &mut samples, 4000, (skipped, groups));
        let DeviceFault::Gpu(GpuError::Unfinished { kernel, .. }) = fault else { panic!("{fault:?}") };
        assert_eq!(kernel, skipped);
    }
}

/// Lanes whose state is lost between two dispatches leave replications that no lane runs: an error, not a run without end.
/// Seen to continue without the counter of lanes that run.
#[test]
fn a_race_that_makes_no_progress_is_an_error() {
    let program = two_loops(3);
    let question = Question { goal: Goal::Horizon, horizon: Some(50.0), ..Question::default() };
    let clock = Clock::choose(&program, question.horizon);
    let setup =
        Setup { program: &program, question: &question, clock, key: split(1), keep_times: true, watch: &Unwatched };
    for form in [Form::Direct, Form::Clock] {
        let gpu = Arc::new(own_device());
        let mut engine = GpuRace::new(&gpu, setup, form).unwrap();
        let mut samples = Samples::new(clock, &question, program.counters(), program.transitions());
        gpu.proof.forgets.store(true, std::sync::atomic::Ordering::Relaxed);
        let fault = engine.run(0, 64, &mut samples, &|| false).unwrap_err();
        let DeviceFault::Gpu(GpuError::Unfinished { kernel: "race", what }) = fault else { panic!("{fault:?}") };
        assert!(what.contains("no lane is running them"), "{what}");
        assert_eq!(samples.replications, 0);
    }
}

/// A device that does not answer is abandoned: dropping it would wait for it, without a limit.
#[test]
fn a_device_that_does_not_answer_is_given_up() {
    let gpu = own_device();
    assert_eq!(gpu.waited(|| Ok(wgpu::PollStatus::WaitSucceeded)), Ok(()));
    assert!(!gpu.is_abandoned());
    let late = gpu.waited(|| Err(wgpu::PollError::Timeout)).unwrap_err();
    assert!(matches!(late, GpuError::Timeout { seconds: 120 }), "{late:?}");
    assert!(gpu.is_abandoned());
}

/// A lost device is abandoned: dropping it would wait for it, without a limit.
#[test]
fn a_device_that_is_lost_in_the_middle_of_a_call_is_given_up() {
    let gpu = own_device();
    let fault = gpu.guarded(|| panic!("Error in Device::poll: Parent device is lost")).unwrap_err();
    assert_eq!(fault, GpuError::Lost { message: "Error in Device::poll: Parent device is lost".into() });
    assert!(gpu.is_abandoned());
}

/// Odd limits, and chunks that fill them: sizes are rounded down. This test was seen to fail with sizes rounded up
/// beyond the limit.
#[test]
fn buffers_stay_within_odd_limits_of_a_device() {
    let question = Question { goal: Goal::Horizon, horizon: Some(5.0), ..Question::default() };
    let race = two_loops(3);
    let clock = Clock::choose(&race, question.horizon);
    let setup =
        Setup { program: &race, question: &question, clock, key: split(1), keep_times: true, watch: &Unwatched };
    let mut gpu = own_device();
    (gpu.facts.largest_binding, gpu.facts.largest_buffer) = (100_007, 100_007);
    let gpu = Arc::new(gpu);
    let mut engine = GpuRace::new(&gpu, setup, Form::Clock).unwrap();
    let all = || Samples::new(clock, &question, race.counters(), race.transitions());
    let (mut samples, mut largest) = (all(), 0);
    for _ in 0..3 {
        let done = engine.run(samples.replications, 1 << 20, &mut samples, &|| false).unwrap();
        assert!(done.is_multiple_of(crate::sim::averages::FLOAT_UNIT), "{done}");
        largest = largest.max(done);
    }
    assert!(largest > 0 && largest * 8 <= 100_007);
    let program = straggling_tasks(2, &[]);
    let question = Question::default();
    let clock = Clock::choose(&program, None);
    let setup =
        Setup { program: &program, question: &question, clock, key: split(1), keep_times: false, watch: &Unwatched };
    let mut engine = device_engine(Kind::Schedule, &gpu, setup, 1).unwrap();
    let mut samples = Samples::new(clock, &question, program.counters(), program.transitions());
    for _ in 0..3 {
        engine.run(samples.replications, 1 << 20, &mut samples, &|| false).unwrap();
    }
    assert!(samples.replications * 8 > 50_000, "{}", samples.replications);
    let mut gpu = own_device();
    gpu.facts.largest_binding = 64;
    let refused = device_engine(Kind::Schedule, &Arc::new(gpu), setup, 1);
    assert!(matches!(refused.map(|_| ()), Err(DeviceFault::DoesNotFit(_))));
}
