//! The only file that accesses a device's queue: pipelines, buffers, dispatches, reading back. Every call that can fail
//! has an error scope, so that a failure becomes a [`GpuError`] instead of zeros.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Once, PoisonError};
use std::time::{Duration, Instant};

use bytemuck::Pod;

pub(crate) use crate::sim::backend::GpuTimes;
use crate::sim::gpu::device::Gpu;
pub(crate) use crate::sim::gpu::device::Kernel;
use crate::sim::gpu::error::GpuError;

/// Maximum duration of one wait. A dispatch is designed to take a tenth of a second; a software adapter on a busy machine
/// may need much longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// Binding at which every kernel finds the counter of finished workgroups.
const PROOF_BINDING: u32 = 7;
/// Size of this counter in bytes.
const PROOF_BYTES: u64 = 4;

/// One dispatch: a kernel, its buffers by binding, and its number of workgroups.
pub(crate) struct Dispatch<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) buffers: &'a [(u32, &'a wgpu::Buffer)],
    pub(crate) workgroups: u32,
}

impl Gpu {
    /// Runs `work` and reports the error that it raises.
    fn scoped<T>(&self, work: impl FnOnce() -> T) -> Result<T, wgpu::Error> {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let value = work();
        let errors = [validation, internal, memory].map(|scope| pollster::block_on(scope.pop()));
        errors.into_iter().flatten().next().map_or(Ok(value), Err)
    }

    fn fault(&self, error: &wgpu::Error) -> GpuError {
        match (self.lost(), error) {
            (Some(message), _) => GpuError::Lost { message },
            (None, wgpu::Error::OutOfMemory { .. }) => GpuError::OutOfMemory { bytes: 0 },
            (None, error) => GpuError::Validation { message: error.to_string() },
        }
    }

    /// Compiles a shader; its entry point is `main`.
    pub(crate) fn kernel(&self, name: &'static str, source: &str) -> Result<Kernel, GpuError> {
        let compiled = self.guarded(|| {
            self.scoped(|| {
                let source = wgpu::ShaderSource::Wgsl(source.into());
                let module =
                    self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(name), source });
                self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                    label: Some(name),
                    layout: None,
                    module: &module,
                    entry_point: Some("main"),
                    // every kernel writes this memory before it reads it
                    compilation_options: wgpu::PipelineCompilationOptions {
                        zero_initialize_workgroup_memory: false,
                        ..Default::default()
                    },
                    cache: None,
                })
            })
        })?;
        match compiled {
            Ok(pipeline) => Ok(Kernel { pipeline, name }),
            Err(error) => Err(GpuError::Shader { shader: name, message: error.to_string() }),
        }
    }

    /// Compiles a shader that is the same for all nets, only once for each device.
    pub(crate) fn fixed_kernel(&self, name: &'static str, source: fn(bool) -> String) -> Result<Kernel, GpuError> {
        let mut compiled = self.fixed_kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = compiled.iter().find(|kernel| kernel.name == name) {
            return Ok(kernel.clone());
        }
        let kernel = self.kernel(name, &source(self.int64))?;
        compiled.push(kernel.clone());
        Ok(kernel)
    }

    fn buffer(&self, bytes: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, GpuError> {
        let size = bytes.max(16).next_multiple_of(16);
        if size > self.device.limits().max_buffer_size {
            return Err(GpuError::OutOfMemory { bytes: size });
        }
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        self.guarded(|| self.scoped(|| self.device.create_buffer(&descriptor)))?.map_err(|error| {
            match self.fault(&error) {
                GpuError::OutOfMemory { .. } => GpuError::OutOfMemory { bytes: size },
                other => other,
            }
        })
    }

    /// A buffer for shaders, filled with zeros.
    pub(crate) fn storage(&self, bytes: u64) -> Result<wgpu::Buffer, GpuError> {
        self.buffer(bytes, wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST)
    }

    /// A buffer for shaders that holds `data`.
    pub(crate) fn storage_with<T: Pod>(&self, data: &[T]) -> Result<wgpu::Buffer, GpuError> {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        let buffer = self.storage(bytes.len() as u64)?;
        self.write(&buffer, bytes)?;
        Ok(buffer)
    }

    /// A buffer for the parameters of a dispatch.
    pub(crate) fn uniform<T: Pod>(&self, value: &T) -> Result<wgpu::Buffer, GpuError> {
        let bytes = bytemuck::bytes_of(value);
        let buffer = self.buffer(bytes.len() as u64, wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST)?;
        self.write(&buffer, bytes)?;
        Ok(buffer)
    }

    /// Overwrites a buffer.
    pub(crate) fn write<T: Pod>(&self, buffer: &wgpu::Buffer, data: &[T]) -> Result<(), GpuError> {
        self.guarded(|| self.queue.write_buffer(buffer, 0, bytemuck::cast_slice(data)))
    }

    /// Clears some buffers, runs dispatches in sequence, waits for all of them, and checks that they
    /// completed. Returns the time.
    pub(crate) fn run(&self, clear: &[&wgpu::Buffer], dispatches: &[Dispatch<'_>]) -> Result<Duration, GpuError> {
        let mut expected = self.proof.expected.lock().unwrap_or_else(PoisonError::into_inner);
        let started = Instant::now();
        let mapped = self.guarded(|| {
            self.scoped(|| {
                let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
                for buffer in clear {
                    encoder.clear_buffer(buffer, 0, None);
                }
                for dispatch in dispatches {
                    self.encode(dispatch, &mut encoder);
                }
                encoder.copy_buffer_to_buffer(&self.proof.counter, 0, &self.proof.copy, 0, PROOF_BYTES);
                self.queue.submit([encoder.finish()]);
                map(&self.proof.copy)
            })
        })?;
        let mapped = mapped.map_err(|error| self.fault(&error))?;
        self.wait()?;
        let counted: u32 = self.mapped(&self.proof.copy, PROOF_BYTES, &mapped, bytemuck::pod_read_unaligned)?;
        self.proof.copy.unmap();
        let groups: u32 = dispatches.iter().map(|dispatch| dispatch.workgroups).sum();
        let done = counted.wrapping_sub(*expected);
        *expected = expected.wrapping_add(groups);
        if done != groups {
            let what = format!("{done} of {groups} workgroups finished");
            return Err(GpuError::Unfinished { kernel: dispatches.first().map_or("", |d| d.kernel.name), what });
        }
        Ok(started.elapsed())
    }

    /// Adds a dispatch to a command buffer.
    fn encode(&self, dispatch: &Dispatch<'_>, encoder: &mut wgpu::CommandEncoder) {
        let Dispatch { kernel, buffers, workgroups } = dispatch;
        let all = buffers.iter().copied().chain([(PROOF_BINDING, &self.proof.counter)]);
        let entries: Vec<_> = all
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let layout = kernel.pipeline.get_bind_group_layout(0);
        let descriptor = wgpu::BindGroupDescriptor { label: Some(kernel.name), layout: &layout, entries: &entries };
        let bind_group = self.device.create_bind_group(&descriptor);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&kernel.pipeline);
        pass.set_bind_group(0, &bind_group, &[]);
        #[cfg(test)]
        let workgroups = &workgroups.saturating_sub(self.proof.left_out(kernel.name));
        pass.dispatch_workgroups(*workgroups, 1, 1);
    }

    /// The first `count` values of a buffer.
    pub(crate) fn read<T: Pod>(&self, buffer: &wgpu::Buffer, count: usize) -> Result<Vec<T>, GpuError> {
        self.read_from(buffer, 0, count)
    }

    /// `count` values of a buffer, from value `first` on.
    pub(crate) fn read_from<T: Pod>(
        &self,
        buffer: &wgpu::Buffer,
        first: usize,
        count: usize,
    ) -> Result<Vec<T>, GpuError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let size = size_of::<T>() as u64;
        let (offset, bytes) = (first as u64 * size, count as u64 * size);
        let expected = self.proof.expected.lock().unwrap_or_else(PoisonError::into_inner);
        // the counter is copied too, because a copy that the driver skips leaves zeros
        let proof_at = bytes.next_multiple_of(PROOF_BYTES);
        let staging =
            self.buffer(proof_at + PROOF_BYTES, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)?;
        let mapped = self.guarded(|| {
            self.scoped(|| {
                let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
                encoder.copy_buffer_to_buffer(buffer, offset, &staging, 0, bytes);
                encoder.copy_buffer_to_buffer(&self.proof.counter, 0, &staging, proof_at, PROOF_BYTES);
                self.queue.submit([encoder.finish()]);
                map(&staging)
            })
        })?;
        let mapped = mapped.map_err(|error| self.fault(&error))?;
        self.wait()?;
        let expected = expected.to_ne_bytes();
        let read = self.mapped(&staging, proof_at + PROOF_BYTES, &mapped, |all| {
            let (data, proof) = all.split_at(proof_at as usize);
            (proof == expected).then(|| bytemuck::pod_collect_to_vec(&data[..bytes as usize]))
        })?;
        read.ok_or_else(|| GpuError::Unfinished { kernel: "copy", what: "results were not read back".to_owned() })
    }

    /// Reads a mapped buffer.
    fn mapped<T>(
        &self,
        buffer: &wgpu::Buffer,
        bytes: u64,
        mapped: &Mapped,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, GpuError> {
        match mapped.recv_timeout(PATIENCE) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(self.lost_or(error.to_string())),
            Err(_) => return Err(self.late()),
        }
        match self.guarded(|| buffer.get_mapped_range(..bytes))? {
            Ok(view) => Ok(read(&view[..])),
            Err(error) => Err(self.lost_or(error.to_string())),
        }
    }

    /// Abandons a device that did not respond in time.
    fn late(&self) -> GpuError {
        self.abandon();
        GpuError::Timeout { seconds: PATIENCE.as_secs() }
    }

    fn lost_or(&self, message: String) -> GpuError {
        match self.lost() {
            Some(message) => GpuError::Lost { message },
            None => GpuError::Validation { message },
        }
    }

    fn wait(&self) -> Result<(), GpuError> {
        let wait = wgpu::PollType::Wait { submission_index: None, timeout: Some(PATIENCE) };
        self.waited(|| self.device.poll(wait))
    }

    /// Reports the result of a wait.
    pub(in crate::sim::gpu) fn waited(
        &self,
        poll: impl FnOnce() -> Result<wgpu::PollStatus, wgpu::PollError>,
    ) -> Result<(), GpuError> {
        let waited = self.guarded(poll)?;
        if let Some(message) = self.lost() {
            return Err(GpuError::Lost { message });
        }
        match waited {
            Ok(_) => Ok(()),
            Err(wgpu::PollError::Timeout) => Err(self.late()),
            Err(error) => Err(GpuError::Validation { message: error.to_string() }),
        }
    }

    /// Calls wgpu, which panics if a driver loses its device in the middle of a call.
    pub(in crate::sim::gpu) fn guarded<T>(&self, call: impl FnOnce() -> T) -> Result<T, GpuError> {
        quietly(call).map_err(|message| {
            self.abandon();
            GpuError::Lost { message }
        })
    }
}

/// The receiver of the result of mapping a buffer.
type Mapped = Receiver<Result<(), wgpu::BufferAsyncError>>;

fn map(buffer: &wgpu::Buffer) -> Mapped {
    let (sender, receiver) = channel();
    buffer.map_async(wgpu::MapMode::Read, .., move |mapped| {
        // the receiver is gone only after a timeout, which has been reported
        let _ = sender.send(mapped);
    });
    receiver
}

thread_local! {
    /// True while a panic of this thread is caught, and reported as an error.
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Calls a function that may panic and returns the panic message, without printing it.
fn quietly<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !CAUGHT.get() {
                before(info);
            }
        }));
    });
    CAUGHT.set(true);
    let called = panic::catch_unwind(AssertUnwindSafe(call));
    CAUGHT.set(false);
    called.map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        text.unwrap_or("the driver reported a failure").lines().next().unwrap_or_default().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Includes consecutive panics, and a panic without a text.
    #[test]
    fn panics_of_a_driver_are_told() {
        assert_eq!(quietly(|| 7), Ok(7));
        assert_eq!(
            quietly(|| panic!("Error in Device::poll: {}\nmore", "Parent device is lost")),
            Err::<(), _>("Error in Device::poll: Parent device is lost".to_owned())
        );
        assert_eq!(quietly(|| panic::panic_any(3)), Err::<(), _>("the driver reported a failure".to_owned()));
        assert!(!CAUGHT.get());
    }
}
