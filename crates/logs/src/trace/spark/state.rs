//! State of a reader of Spark event logs.

use std::collections::HashMap;

use crate::trace::attempt::Locality;
use crate::trace::builder::Builder;
use crate::trace::ids::{ApplicationId, ExecutorId, Moment, NodeId, StageId};
use crate::trace::job_trace::{AnnouncedStage, Application};
use crate::trace::loose::Number;
use crate::trace::spark::sql::Queries;
use crate::trace::warning::WarningKind;

/// Microseconds per millisecond, the unit of all Spark times without an explicit unit.
pub(super) const MILLISECOND: i64 = 1000;

/// State while a log is read, in addition to the trace.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) application: Option<ApplicationId>,
    /// True if the log has recorded the application's start.
    pub(super) started: bool,
    /// Attempts that have started and not ended, by Spark's task id.
    pub(super) running: HashMap<u64, Running>,
    pub(super) planned: HashMap<u32, AnnouncedStage>,
    pub(super) queries: Queries,
    /// Cores that a task takes, by resource profile.
    pub(super) task_cores: HashMap<u32, u32>,
}

/// Converts a small integer: an id, an index, a count.
pub(super) fn small(number: Number) -> Option<u32> {
    u32::try_from(number.value()?).ok()
}

impl State {
    /// Returns the application that events belong to.
    pub(super) fn application(&mut self, builder: &mut Builder) -> ApplicationId {
        *self.application.get_or_insert_with(|| builder.new_application(Application::default()))
    }

    /// Returns the stage of a task, creating it if the log has not submitted it.
    pub(super) fn stage_of_task(&mut self, number: u32, attempt: u32, builder: &mut Builder) -> StageId {
        let application = self.application(builder);
        let (id, is_new) = builder.stage(application, number, attempt);
        if is_new {
            match self.planned.get(&number) {
                Some(planned) => {
                    let stage = builder.stage_mut(id);
                    stage.name.clone_from(&planned.name);
                    stage.parents.clone_from(&planned.parents);
                    // a further attempt repeats only the missing tasks
                    stage.tasks = planned.tasks.filter(|_| attempt == 0);
                }
                None => builder.warn(WarningKind::MissingStage, || format!("stage {number}, attempt {attempt}")),
            }
        }
        id
    }
}

/// An attempt that has started.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    pub(super) stage: StageId,
    pub(super) task: u32,
    pub(super) number: u32,
    pub(super) node: Option<NodeId>,
    pub(super) executor: ExecutorId,
    pub(super) locality: Locality,
    pub(super) speculative: bool,
    pub(super) launch: Option<Moment>,
}
