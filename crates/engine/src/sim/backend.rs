//! Devices that run replications, the CPU or a GPU: the choices, and the record of a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The device that runs the replications. It does not affect the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// The CPU; then, if much work remains after a while, a GPU, if there is a GPU that can run the net.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// A GPU; without one, an error.
    Gpu,
}

/// Devices that ran the replications of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RanOn {
    /// The CPU alone.
    #[default]
    Cpu,
    /// A GPU alone.
    Gpu,
    /// The CPU, then a GPU.
    CpuThenGpu,
    /// The CPU, a GPU, and the CPU again.
    CpuThenGpuThenCpu,
}

impl RanOn {
    /// The devices in words, for results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::CpuThenGpu => "cpu then gpu",
            Self::CpuThenGpuThenCpu => "cpu then gpu then cpu",
        }
    }
}

/// Parts of the time of a run on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuTimes {
    /// Opening the device, compiling shaders, creating buffers.
    pub setup: Duration,
    /// Uploading programs and parameters.
    pub upload: Duration,
    /// From the submission of work until its completion.
    pub compute: Duration,
    /// Copying results back and unpacking them.
    pub read_back: Duration,
}

/// The part of a run that was executed on a GPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceUse {
    /// Name of the adapter according to the driver.
    pub adapter: String,
    /// Number of replications that ran on the GPU.
    pub replications: u64,
    /// Parts of the time.
    pub times: GpuTimes,
}

/// Devices that ran the replications of a run, and the reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// Devices that ran the replications.
    pub backend: RanOn,
    /// Reason for the choice of devices.
    pub reason: String,
    /// The opened device, even if it failed immediately; none if no device was opened.
    pub device: Option<DeviceUse>,
}
