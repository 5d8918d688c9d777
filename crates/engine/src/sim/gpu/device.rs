//! Adapters: listing, choosing, and opening an adapter as a device that has passed the self-test.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::sim::gpu::error::GpuError;

/// Kind of an adapter, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AdapterKind {
    /// A discrete GPU.
    Discrete,
    /// A virtual GPU of a virtual machine.
    Virtual,
    /// Integrated into the CPU.
    Integrated,
    /// Another device.
    Other,
    /// A program that emulates a GPU.
    Software,
}

impl AdapterKind {
    /// Name of the kind in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Discrete => "discrete",
            Self::Virtual => "virtual",
            Self::Integrated => "integrated",
            Self::Other => "other",
            Self::Software => "software",
        }
    }
}

/// Facts about an adapter that are known without opening it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterFacts {
    /// Name according to the driver.
    pub name: String,
    /// Programming interface: `vulkan`, `metal` or `dx12`.
    pub interface: String,
    /// Driver and its version.
    pub driver: String,
    /// Kind of the adapter.
    pub kind: AdapterKind,
    /// True if the adapter supports 64-bit integers.
    pub int64: bool,
    /// Maximum size of a buffer \[bytes\].
    pub largest_buffer: u64,
    /// Maximum size of the part of a buffer that a shader can access \[bytes\].
    pub largest_binding: u64,
    /// Maximum number of workgroups in one dimension of a dispatch.
    pub workgroups: u32,
    /// Maximum number of invocations in one workgroup.
    pub workgroup_size: u32,
}

impl AdapterFacts {
    /// Returns true if the adapter is a program that emulates a GPU.
    pub fn is_software(&self) -> bool {
        self.kind == AdapterKind::Software
    }

    pub(in crate::sim::gpu) fn of(adapter: &wgpu::Adapter) -> Self {
        let (info, limits) = (adapter.get_info(), adapter.limits());
        let kind = match info.device_type {
            wgpu::DeviceType::DiscreteGpu => AdapterKind::Discrete,
            wgpu::DeviceType::IntegratedGpu => AdapterKind::Integrated,
            wgpu::DeviceType::VirtualGpu => AdapterKind::Virtual,
            wgpu::DeviceType::Cpu => AdapterKind::Software,
            wgpu::DeviceType::Other => AdapterKind::Other,
        };
        Self {
            name: info.name,
            interface: format!("{:?}", info.backend).to_lowercase(),
            driver: [info.driver, info.driver_info].join(" ").trim().to_owned(),
            kind,
            int64: adapter.features().contains(wgpu::Features::SHADER_INT64),
            // a multiple of 256, because sizes are rounded up to smaller multiples
            largest_buffer: limits.max_buffer_size & !255,
            largest_binding: limits.max_storage_buffer_binding_size & !255,
            workgroups: limits.max_compute_workgroups_per_dimension,
            workgroup_size: limits.max_compute_invocations_per_workgroup,
        }
    }
}

/// The requested adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted<'a> {
    /// The best GPU, but not a software adapter.
    Card,
    /// The best adapter, or a software adapter if there is no other.
    #[cfg_attr(not(test), expect(dead_code, reason = "no run takes a software adapter by itself; tests do"))]
    Any,
    /// The first adapter whose name contains this text, ignoring case; includes software adapters.
    Named(&'a str),
}

/// All adapters, best first.
pub fn adapters() -> Vec<AdapterFacts> {
    all_adapters().iter().map(AdapterFacts::of).collect()
}

pub(in crate::sim::gpu) fn all_adapters() -> Vec<wgpu::Adapter> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    // a seventh of the time for kernels of debug builds: the line of each statement is counted from the start of the text
    descriptor.flags.remove(wgpu::InstanceFlags::DEBUG);
    let instance = wgpu::Instance::new(descriptor.with_env());
    let mut found = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    found.retain(|adapter| adapter.get_downlevel_capabilities().flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS));
    found.sort_by_key(|adapter| AdapterFacts::of(adapter).kind);
    found
}

/// An opened device that has passed its self-test.
#[derive(Debug)]
pub struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    /// Facts about the adapter.
    pub facts: AdapterFacts,
    /// True if shaders use 64-bit integers for products.
    pub(crate) int64: bool,
    /// Maximum number of loop iterations of one invocation in one dispatch.
    pub(crate) loop_budget: u32,
    lost: Arc<Mutex<Option<String>>>,
    pub(in crate::sim::gpu) proof: Proof,
    /// The compiled kernels that are the same for all nets.
    pub(in crate::sim::gpu) fixed_kernels: Mutex<Vec<Kernel>>,
    abandoned: AtomicBool,
}

/// A compute pipeline.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    pub(in crate::sim::gpu) pipeline: wgpu::ComputePipeline,
    pub(in crate::sim::gpu) name: &'static str,
}

/// Proof that work was done: a counter that the kernels increase, and its expected value.
#[derive(Debug)]
pub(in crate::sim::gpu) struct Proof {
    pub(in crate::sim::gpu) counter: wgpu::Buffer,
    /// The buffer from which the host reads the counter.
    pub(in crate::sim::gpu) copy: wgpu::Buffer,
    /// The expected value.
    pub(in crate::sim::gpu) expected: Mutex<u32>,
    /// For tests: a kernel, and the number of workgroups that its next dispatch skips.
    #[cfg(test)]
    pub(in crate::sim::gpu) skipped: Mutex<Option<(&'static str, u32)>>,
    /// For tests: true if the state of a race is to be lost after the next dispatch.
    #[cfg(test)]
    pub(in crate::sim::gpu) forgets: AtomicBool,
}

impl Proof {
    fn new(device: &wgpu::Device) -> Self {
        use wgpu::BufferUsages;
        let buffer = |usage| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("proof"),
                size: 16,
                usage,
                mapped_at_creation: false,
            })
        };
        Self {
            counter: buffer(BufferUsages::STORAGE | BufferUsages::COPY_SRC),
            copy: buffer(BufferUsages::MAP_READ | BufferUsages::COPY_DST),
            expected: Mutex::new(0),
            #[cfg(test)]
            skipped: Mutex::new(None),
            #[cfg(test)]
            forgets: AtomicBool::new(false),
        }
    }

    /// For tests: number of workgroups that the next dispatch of a kernel skips.
    #[cfg(test)]
    pub(in crate::sim::gpu) fn left_out(&self, kernel: &str) -> u32 {
        let mut skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        skipped.take_if(|(name, _)| *name == kernel).map_or(0, |(_, groups)| groups)
    }
}

impl Gpu {
    pub(in crate::sim::gpu) fn open_untested(adapter: &wgpu::Adapter, int64: bool) -> Result<Self, GpuError> {
        let facts = AdapterFacts::of(adapter);
        let int64 = int64 && facts.int64;
        let features = if int64 { wgpu::Features::SHADER_INT64 } else { wgpu::Features::empty() };
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("tailspn"),
            required_features: features,
            required_limits: adapter.limits(),
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        };
        let opened = pollster::block_on(adapter.request_device(&descriptor));
        let (device, queue) =
            opened.map_err(|error| GpuError::Refused { adapter: facts.name.clone(), message: error.to_string() })?;
        let lost = Arc::new(Mutex::new(None));
        let noted = Arc::clone(&lost);
        device.set_device_lost_callback(move |reason, message| {
            let text = if message.is_empty() { format!("{reason:?}") } else { message };
            *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
        });
        // an error outside all scopes would end the process; it is recorded instead, and the next wait reports it
        let noted = Arc::clone(&lost);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
        }));
        let proof = Proof::new(&device);
        Ok(Self {
            device,
            queue,
            facts,
            int64,
            loop_budget: u32::MAX,
            lost,
            proof,
            fixed_kernels: Mutex::default(),
            abandoned: AtomicBool::new(false),
        })
    }

    /// Abandons the device: its handles are never dropped, because dropping them makes wgpu wait for the
    /// device without a limit.
    pub(in crate::sim::gpu) fn abandon(&self) {
        if !self.abandoned.swap(true, Ordering::Relaxed) {
            std::mem::forget((self.device.clone(), self.queue.clone()));
        }
    }

    /// For tests: returns true if the device is to lose the state of a race now.
    pub(in crate::sim::gpu) fn forgets(&self) -> bool {
        #[cfg(test)]
        return self.proof.forgets.swap(false, Ordering::Relaxed);
        #[cfg(not(test))]
        false
    }

    /// Returns true once the device has been abandoned.
    #[cfg(test)]
    pub(in crate::sim::gpu) fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }

    /// Message of the driver about the loss of the device; none if the device was not lost.
    pub(crate) fn lost(&self) -> Option<String> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

pub(in crate::sim::gpu) fn choose(found: Vec<wgpu::Adapter>, wanted: Wanted<'_>) -> Result<wgpu::Adapter, GpuError> {
    let facts: Vec<AdapterFacts> = found.iter().map(AdapterFacts::of).collect();
    let at = choose_from(&facts, wanted)?;
    found.into_iter().nth(at).ok_or(GpuError::NoAdapter)
}

/// Position of the requested adapter among the available ones, best first.
pub(in crate::sim::gpu) fn choose_from(facts: &[AdapterFacts], wanted: Wanted<'_>) -> Result<usize, GpuError> {
    let Some(best) = facts.first() else { return Err(GpuError::NoAdapter) };
    match wanted {
        Wanted::Any => Ok(0),
        Wanted::Card if best.is_software() => Err(GpuError::OnlySoftware { found: best.name.clone() }),
        Wanted::Card => Ok(0),
        Wanted::Named(name) => {
            let lower = name.to_lowercase();
            facts.iter().position(|facts| facts.name.to_lowercase().contains(&lower)).ok_or_else(|| {
                let available = facts.iter().map(|facts| facts.name.clone()).collect();
                GpuError::NoSuchAdapter { name: name.to_owned(), available }
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(name: &str, kind: AdapterKind) -> AdapterFacts {
        AdapterFacts {
            name: name.into(),
            interface: "vulkan".into(),
            driver: String::new(),
            kind,
            int64: true,
            largest_buffer: 1 << 31,
            largest_binding: 1 << 27,
            workgroups: 65_535,
            workgroup_size: 1024,
        }
    }

    #[test]
    fn a_software_adapter_is_taken_only_when_asked_for() {
        let software = [facts("llvmpipe (LLVM)", AdapterKind::Software)];
        assert_eq!(choose_from(&[], Wanted::Card), Err(GpuError::NoAdapter));
        assert!(matches!(choose_from(&software, Wanted::Card), Err(GpuError::OnlySoftware { .. })));
        assert_eq!(choose_from(&software, Wanted::Any), Ok(0));
        assert_eq!(choose_from(&software, Wanted::Named("LLVMpipe")), Ok(0));
        let both = [facts("Card 9000", AdapterKind::Discrete), facts("llvmpipe", AdapterKind::Software)];
        assert_eq!(choose_from(&both, Wanted::Card), Ok(0));
        assert_eq!(choose_from(&both, Wanted::Named("llvm")), Ok(1));
        let refused = choose_from(&both, Wanted::Named("Voodoo")).unwrap_err();
        assert_eq!(refused.to_string(), "no adapter `Voodoo`; available: Card 9000, llvmpipe");
    }
}
