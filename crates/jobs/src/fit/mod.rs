//! Models from logs: the stage graph of a Spark job from one or more logs of it, the plan of a MapReduce job from its test job.
//!
//! ```text
//! JobTrace ──▶ ObservedRun (stages, tasks in the order of their slots) ─┐
//! JobTrace ──▶ ObservedRun                                              ├──▶ fit ──▶ FittedStages ──▶ StagePlan
//! JobTrace ──▶ ObservedRun                                             ─┘
//!
//! JobTrace ──▶ ObservedJob ─┬──▶ fit_job ──▶ FittedJob ──▶ mapreduce::Plan (of several jobs: fit_jobs)
//! *_conf.xml ──▶ HadoopConf ┘
//! ```
//!
//! | question | file |
//! |---|---|
//! | one run of the job, from its log | [`observe()`] |
//! | a run that has not ended, from its log; the rest of it, by a plan or by the run itself | `progress`, `rest` |
//! | the sources of a run's input; its executors, their hosts and arrival times | `sources`, `workers` |
//! | a robust line through positive times | `line` |
//! | cold tasks, warm tasks and the transition between them | `task_time` |
//! | numbers of tasks and amounts of data at other inputs; inputs that no log records | `scaling`, `inputs` |
//! | slowdown of executors that share a host | `sharing` |
//! | distribution of the times around their means; recurring slow tasks | `law`, `tail` |
//! | comparison of runs, and their joint fit; remarks on gaps in the logs | [`stages`], `notes` |
//! | a MapReduce job, from its log | [`observed_job`] |
//! | slots of its cluster, their waits for tasks, the start of a task | [`waits`] |
//! | the settings of a MapReduce job | [`hadoop_conf`] |
//! | a recorded job, prepared to run again under other policies | [`replay`](mod@replay), `replay_times` |
//! | jobs of phase logs, one plan | `phase_logs/` |
//! | several jobs of a program, one plan | [`pooled`] |
//! | counters and times as symbols of SPN-GC; the plan as text | [`test_job`], `test_times`, `job_text` |
//!
//! All methods are deterministic and do not simulate. Gaps in a log are filled by assumptions, which the
//! plan's notes list.

mod alike;
mod fit_error;
pub mod fitted;
mod gpu;
pub mod hadoop_conf;
mod inputs;
mod job_text;
mod law;
mod likeness;
mod line;
mod memory;
mod notes;
pub mod observe;
pub mod observed_job;
mod only_job;
mod phase_logs;
pub mod pooled;
mod progress;
pub mod replay;
mod replay_policies;
mod replay_times;
mod rest;
mod scaling;
mod sharing;
mod sources;
pub mod stages;
mod tail;
mod task_time;
pub mod test_job;
mod test_times;
pub mod waits;
mod workers;

pub use fit_error::FitError;
pub use fitted::{FittedRun, FittedStage, FittedStages};
pub use gpu::{gpu_permits, predicted_gpu_wait};
pub use hadoop_conf::{ConfError, HadoopConf};
pub use job_text::short;
pub use law::LawScore;
pub use observe::{ObservedRun, ObservedStage, ObservedTask, observe};
pub use observed_job::{ObservedJob, is_mapreduce, observe_job, observe_jobs};
pub use only_job::only_job;
pub use phase_logs::{LogHost, PhaseRun, fit_phases, is_phase_log, observe_phases};
pub use pooled::{FittedJobs, fit_jobs};
pub use progress::{RunProgress, StageProgress, StartedTask, observe_progress};
pub use replay::{Replay, ReplayNode, ReplayStage, replay};
pub use replay_policies::{
    AS_IT_WAS_SET, Speculation, as_it_was_set, settable_policies, speculation_of, usual_policies, usual_policies_of,
};
pub use rest::{RestOfRun, StageEvidence, rest_by_itself, rest_of_run};
pub use sources::Source;
pub use stages::{fit_stages, fit_stages_alongside};
pub use test_job::{FittedJob, FittedValue, ONE_JOB, fit_job};
pub use waits::{ObservedCluster, observe_cluster};
