//! Replications on a GPU: compute shaders through wgpu.
//!
//! Every engine here has a twin on the CPU and gives the same results: draws, clocks, markings and results are
//! integers, and equal bit for bit, replication by replication. So a run may start on one device and continue on the
//! other without any change in the numbers. The WGSL is in `shaders/`; a file in `shaders/shared/` names the Rust file
//! that is its twin.
//!
//! * [`adapters`] lists the adapters; a device is opened only after a self-test with known answers.
//! * A chunk of replications is dispatched in parts of about 60 ms, reduced on the device, and added to the results when
//!   complete; after a failure, the whole chunk is discarded.
//! * A [`Card`] runs many nets; schedules of one plan run together, as one batch with separate rates.
//! * [`GpuError`] describes the problem and the remedy.

mod averages;
mod batch;
mod card;
mod code;
mod columns;
mod device;
#[cfg(test)]
mod double;
mod engine;
mod error;
mod execute;
mod law;
mod layout;
mod open;
mod pair;
mod race;
mod race_code;
mod race_forms;
mod race_layout;
mod relay;
mod schedule;
mod schedule_code;
mod self_test;
mod shader;
mod survey;
#[cfg(test)]
mod tests;
mod twin;

pub use card::Card;
pub use device::{AdapterFacts, AdapterKind, Gpu, adapters};
pub use error::GpuError;
pub use survey::{Surveyed, automatic_choice, survey};

pub(crate) use device::Wanted;
pub(crate) use engine::{DeviceEngine, DeviceFault};
pub(crate) use race::GpuRace;
pub(crate) use race_forms::Form;
pub(in crate::sim) use relay::{Patience, Relay};
pub(crate) use schedule::GpuSchedule;
pub(in crate::sim) use twin::open;
