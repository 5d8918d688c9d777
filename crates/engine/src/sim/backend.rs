//! What runs replications, the processor or a graphics card: what may be asked for, and what a run says about it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What runs the replications. The numbers are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// The processor; where much is left to do after a while, a graphics card, if there is one and the net fits.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A graphics card, or an error.
    Gpu,
}

/// What ran the replications of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RanOn {
    /// The processor alone.
    #[default]
    Cpu,
    /// A graphics card alone.
    Gpu,
    /// The processor, and a card from somewhere on.
    CpuThenGpu,
    /// The processor, a card, and the processor again.
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

/// Where the time of a run on a device went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GpuTimes {
    /// Opening the device, compiling shaders, opening buffers.
    pub setup: Duration,
    /// Uploading programs and parameters.
    pub upload: Duration,
    /// From the submission of work until it was done.
    pub compute: Duration,
    /// Copying results back and taking them apart.
    pub read_back: Duration,
}

/// The part of a run that a device had.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeviceUse {
    /// Name that the driver gives the adapter.
    pub adapter: String,
    /// Replications that ran there.
    pub replications: u64,
    /// Where the time went.
    pub times: GpuTimes,
}

/// What ran the replications of a run, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// What ran them.
    pub backend: RanOn,
    /// Why that.
    pub reason: String,
    /// The device that was opened, also if it failed at once; none where there was none.
    pub device: Option<DeviceUse>,
}
