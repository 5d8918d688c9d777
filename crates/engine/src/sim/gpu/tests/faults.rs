//! Faults of a real device, not scripted ones: what is wrong comes out as an error of its own kind, and nothing is counted.

use std::sync::Arc;

use crate::rng::split;
use crate::sim::conformance::two_loops;
use crate::sim::gpu::device::Wanted;
use crate::sim::gpu::engine::DeviceFault;
use crate::sim::gpu::{DeviceEngine, Form, Gpu, GpuError, GpuRace};
use crate::sim::race::Setup;
use crate::sim::{Clock, Goal, Question, Samples};

/// A device of its own, since the test spoils it.
fn own_device() -> Gpu {
    Gpu::open(Wanted::Any).unwrap()
}

#[test]
fn a_device_that_goes_away_between_two_chunks_is_an_error() {
    let program = two_loops(3);
    let question = Question { goal: Goal::Horizon, horizon: Some(5.0), ..Question::default() };
    let clock = Clock::choose(&program, question.horizon);
    let setup = Setup { program: &program, question: &question, clock, key: split(1), keep_times: true };
    for form in [Form::Direct, Form::Clock] {
        let gpu = Arc::new(own_device());
        let mut engine = GpuRace::new(&gpu, setup, form).unwrap();
        let mut samples = Samples::new(clock, &question, program.counters(), program.transitions());
        assert_eq!(engine.run(0, 100, &mut samples).unwrap(), 100);
        gpu.device.destroy();
        let before = samples.clone();
        let fault = engine.run(100, 100, &mut samples).unwrap_err();
        assert!(matches!(fault, DeviceFault::Gpu(GpuError::Lost { .. })), "{fault:?}");
        assert_eq!(samples, before, "nothing of the chunk is counted");
        let again = GpuRace::new(&gpu, setup, form).and_then(|mut engine| engine.run(0, 100, &mut samples));
        assert!(matches!(again, Err(DeviceFault::Gpu(_))) && samples == before, "nothing new runs there: {again:?}");
    }
}

#[test]
fn a_buffer_beyond_the_device_and_a_shader_that_is_none_are_errors() {
    let gpu = own_device();
    let most = gpu.device.limits().max_buffer_size;
    let beyond = gpu.storage(most + 1).unwrap_err();
    assert!(matches!(beyond, GpuError::OutOfMemory { bytes } if bytes > most), "{beyond:?}");
    let refused = gpu.kernel("garbage", "fn main() { let a: u32 = -1.5; }").unwrap_err();
    assert!(matches!(&refused, GpuError::Shader { shader: "garbage", .. }), "{refused:?}");
    assert!(!refused.to_string().contains('\0') && refused.to_string().contains("garbage"));
    // the device is as good as before
    assert!(gpu.storage(1024).is_ok() && gpu.lost().is_none());
}
