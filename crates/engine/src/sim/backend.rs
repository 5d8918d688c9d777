//! Devices that run replications, the CPU or a GPU: the choices, and the record of a run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The device that runs the replications. The numbers are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// The CPU; if much work remains after a while, a GPU, if there is one and the net fits.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// A GPU, or an error.
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
    /// In words, for results.
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
    /// Opening the device, compiling shaders, opening buffers.
    pub setup: Duration,
    /// Uploading programs and parameters.
    pub upload: Duration,
    /// From the submission of work until its completion.
    pub compute: Duration,
    /// Copying results back and unpacking them.
    pub read_back: Duration,
}

/// The part of a run that a device had.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceUse {
    /// Name of the adapter according to the driver.
    pub adapter: String,
    /// Replications that ran there.
    pub replications: u64,
    /// Parts of the time.
    pub times: GpuTimes,
}

/// Devices that ran the replications of a run, and the reason.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// Devices that ran the replications.
    pub backend: RanOn,
    /// Reason why that.
    pub reason: String,
    /// The opened device, even if it failed at once; none without a device.
    pub device: Option<DeviceUse>,
}
