//! Names of stages in findings.

use crate::trace::{JobTrace, StageId};

/// Returns the name of a stage in findings: its number, with its attempt and its application if there are several.
pub fn stage_name(trace: &JobTrace, id: StageId) -> String {
    let Some(stage) = trace.stage(id) else { return String::new() };
    let attempt = if stage.attempt > 0 { format!(".{}", stage.attempt) } else { String::new() };
    let several = trace.applications.len() > 1;
    let application = if several { format!("{}/", stage.application.index()) } else { String::new() };
    format!("{application}{}{attempt}", stage.number)
}
