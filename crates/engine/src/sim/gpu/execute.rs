//! The only file that talks to a device's queue: pipelines, buffers, dispatches, reading back. Every call that can fail
//! is scoped, so that a fault comes out as a [`GpuError`] and not as zeros.

use std::time::{Duration, Instant};

use bytemuck::Pod;

pub(crate) use crate::sim::backend::GpuTimes;
use crate::sim::gpu::device::Gpu;
use crate::sim::gpu::error::GpuError;

/// How long one wait may take. A dispatch is made for a tenth of a second; a software adapter on a busy machine may need
/// much longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// A compute pipeline.
#[derive(Debug)]
pub(crate) struct Kernel {
    pipeline: wgpu::ComputePipeline,
    name: &'static str,
}

/// One dispatch: a kernel, its buffers by binding, and how many workgroups.
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
        let compiled = self.scoped(|| {
            let source = wgpu::ShaderSource::Wgsl(source.into());
            let module = self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(name), source });
            self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(name),
                layout: None,
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            })
        });
        match compiled {
            Ok(pipeline) => Ok(Kernel { pipeline, name }),
            Err(error) => Err(GpuError::Shader { shader: name, message: error.to_string() }),
        }
    }

    fn buffer(&self, bytes: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, GpuError> {
        let size = bytes.max(16).next_multiple_of(16);
        if size > self.device.limits().max_buffer_size {
            return Err(GpuError::OutOfMemory { bytes: size });
        }
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        self.scoped(|| self.device.create_buffer(&descriptor)).map_err(|error| match self.fault(&error) {
            GpuError::OutOfMemory { .. } => GpuError::OutOfMemory { bytes: size },
            other => other,
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
        self.queue.write_buffer(&buffer, 0, bytes);
        Ok(buffer)
    }

    /// A buffer for the parameters of a dispatch.
    pub(crate) fn uniform<T: Pod>(&self, value: &T) -> Result<wgpu::Buffer, GpuError> {
        let bytes = bytemuck::bytes_of(value);
        let buffer = self.buffer(bytes.len() as u64, wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST)?;
        self.queue.write_buffer(&buffer, 0, bytes);
        Ok(buffer)
    }

    /// Fills a buffer anew.
    pub(crate) fn write<T: Pod>(&self, buffer: &wgpu::Buffer, data: &[T]) {
        self.queue.write_buffer(buffer, 0, bytemuck::cast_slice(data));
    }

    /// Clears some buffers, runs dispatches one after the other, and waits until all is done. Gives the time that took.
    pub(crate) fn run(&self, clear: &[&wgpu::Buffer], dispatches: &[Dispatch<'_>]) -> Result<Duration, GpuError> {
        let started = Instant::now();
        let submitted = self.scoped(|| {
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            for buffer in clear {
                encoder.clear_buffer(buffer, 0, None);
            }
            for Dispatch { kernel, buffers, workgroups } in dispatches {
                let entries: Vec<_> = buffers
                    .iter()
                    .map(|(binding, buffer)| wgpu::BindGroupEntry {
                        binding: *binding,
                        resource: buffer.as_entire_binding(),
                    })
                    .collect();
                let layout = kernel.pipeline.get_bind_group_layout(0);
                let bind_group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                    label: Some(kernel.name),
                    layout: &layout,
                    entries: &entries,
                });
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                pass.set_pipeline(&kernel.pipeline);
                pass.set_bind_group(0, &bind_group, &[]);
                pass.dispatch_workgroups(*workgroups, 1, 1);
            }
            self.queue.submit([encoder.finish()]);
        });
        submitted.map_err(|error| self.fault(&error))?;
        self.wait()?;
        Ok(started.elapsed())
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
        let staging = self.buffer(bytes, wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST)?;
        let (sender, receiver) = std::sync::mpsc::channel();
        let submitted = self.scoped(|| {
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(buffer, offset, &staging, 0, bytes);
            self.queue.submit([encoder.finish()]);
            staging.map_async(wgpu::MapMode::Read, .., move |mapped| {
                // the receiver is gone only after a timeout, which has been reported
                let _ = sender.send(mapped);
            });
        });
        submitted.map_err(|error| self.fault(&error))?;
        self.wait()?;
        match receiver.recv_timeout(PATIENCE) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(self.lost_or(error.to_string())),
            Err(_) => return Err(self.lost_or("a buffer could not be read".to_owned())),
        }
        match staging.get_mapped_range(..bytes) {
            Ok(view) => Ok(bytemuck::pod_collect_to_vec(&view[..])),
            Err(error) => Err(self.lost_or(error.to_string())),
        }
    }

    fn lost_or(&self, message: String) -> GpuError {
        match self.lost() {
            Some(message) => GpuError::Lost { message },
            None => GpuError::Validation { message },
        }
    }

    fn wait(&self) -> Result<(), GpuError> {
        let waited = self.device.poll(wgpu::PollType::Wait { submission_index: None, timeout: Some(PATIENCE) });
        if let Some(message) = self.lost() {
            return Err(GpuError::Lost { message });
        }
        match waited {
            Ok(_) => Ok(()),
            Err(wgpu::PollError::Timeout) => Err(GpuError::Timeout { seconds: PATIENCE.as_secs() }),
            Err(error) => Err(GpuError::Validation { message: error.to_string() }),
        }
    }
}
