//! The job time of a MapReduce job on a GPU cluster: the model SPN-GC and its exact solution.
//!
//! Contains the plan of a job, the closed formulas for the mean time of each phase of each task, the
//! exact distribution of the job time for the net of the paper, and the net itself. It does not
//! simulate: it builds nets and evaluates formulas. Source: \[PESARO15\].
//!
//! ```text
//! plan.toml ──▶ params::Plan ──▶ spn_gc::phase_times ──▶ JobPhases ──┬─▶ analytic::JobTime   (exact)
//!                                                                    └─▶ net::job_net ──▶ Net (to simulate)
//!                                                                              │  ▲
//!                                                              task chains     ▼  │ straggle, speculate
//!                                                                        stragglers and their copies
//! ```
//!
//! Symbols of the paper and the corresponding keys of a plan; sizes in MB (2^20 bytes), rates in MB/s, times in s:
//!
//! | symbol | field | meaning |
//! |---|---|---|
//! | M, R | `job.input_mb / job.split_mb` rounded up, `job.reduces` | map and reduce tasks |
//! | D_input, D_split, D_block | `job.input_mb`, `job.split_mb`, `job.gpu_block_mb` | input, split, GPU block |
//! | D_test, M_test | `profile.input_mb`, `profile.maps` | the test job's input and map tasks |
//! | D_map, D_mapoutput, D_red | `profile.map_data_mb`, `profile.map_output_mb`, `profile.reduce_output_mb` | its data |
//! | T_m, T_m_gpu, T_r | `profile.map_cpu_s`, `profile.map_gpu_s`, `profile.reduce_cpu_s` | its measured times |
//! | T_load, T_upload | `profile.load_s`, `profile.upload_s` | its start |
//! | HR, HW, MR, MW, GR, GW | `cluster.node.disk_read_mb_per_s` … `gpu_write_mb_per_s` | rates of disk, memory, GPU |
//! | A | `cluster.replicas` / workers | share of a map's input that is on its own disk |
//!
//! Guarantees: a plan without [`params::Plan::problems`] gives finite phase means or an error,
//! never `NaN`; tasks, phases and warnings come in task and phase order.

pub mod analytic;
mod assumed;
mod attempt_rewards;
mod attempts;
mod augmented;
mod by_size;
pub mod chain;
mod counts;
pub mod curve;
mod draft;
mod fate;
mod framework;
mod job;
mod law_quantiles;
mod logged;
pub mod net;
mod net_error;
mod net_names;
pub mod params;
mod parts;
pub mod phase;
pub mod phase_law;
mod phase_map;
pub mod plan_check;
mod retime;
mod seeded;
mod setting;
mod sized;
mod slots;
pub mod slow_tasks;
pub mod speculation;
pub mod spn_gc;
pub mod straggler;
mod task_chain;
pub mod task_times;
pub mod uses;

pub use analytic::{JobTime, TaskLaw};
pub use assumed::{DISTRIBUTION, MEASURED};
pub use attempt_rewards::{AttemptReward, Machines, attempt_rewards};
pub use augmented::{AttemptParts, AugmentError, Augmented, CopySlots};
pub use by_size::{Growth, PhasesBySize, SizedPhase};
pub use framework::{Framework, Residual};
pub use job::{job_of, job_with};
pub use law_quantiles::{LawTable, LawTables};
pub use logged::LoggedJob;
pub use net::{JobNet, job_net, job_parts};
pub use net_error::JobNetError;
pub use params::Plan;
pub use phase::Phase;
pub use phase_law::{LawKind, PhaseLaw};
pub use phase_map::PhaseMap;
pub use retime::{JobShape, job_shape, timings};
pub use seeded::seeded_phase_times;
pub use setting::SettingProblem;
pub use slow_tasks::SlowTasks;
pub use speculation::{CopyPolicy, Speculation, speculate};
pub use straggler::{Factors, Stragglers, WhichTasks, straggle};
pub use task_chain::{ChainProblem, TaskChain};
pub use task_times::{JobPhases, phase_times};
