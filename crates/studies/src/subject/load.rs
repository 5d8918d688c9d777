//! Reading the job or net that the plan of a study names.

use std::path::{Path, PathBuf};

use tailspn_common::bounded;

use crate::error::StudyError;
use crate::formats::pipe::{self, ReadOptions, Warning, WriteOptions};
use crate::formats::{options_beside, read_bytes};
use crate::mapreduce::Plan;
use crate::net::Net;
use crate::plan::{JobPlan, PlanError, PlanOption};
use crate::subject::Subject;
use crate::subject::goal::GoalText;
use crate::subject::load_error::LoadError;
use crate::sweep::Settings;

/// A warning about a file that was read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LoadWarning {
    /// A plan without any key: all keys have their defaults, and the file may be the wrong one.
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A net that was read with warnings.
    Net {
        /// The file.
        path: PathBuf,
        /// Text of the file.
        text: String,
        /// The warnings.
        warnings: Vec<Warning>,
    },
}

/// A job or net, with the warnings about its file.
#[derive(Debug)]
pub struct Loaded {
    /// The job or net.
    pub subject: Subject,
    /// The warnings, in the order in which the files were read.
    pub warnings: Vec<LoadWarning>,
}

impl Loaded {
    /// Reads the job or net that settings name; file names are relative to `folder`. Without a name, the default job.
    ///
    /// # Errors
    ///
    /// [`StudyError::Load`].
    pub fn open(settings: &Settings, folder: &Path) -> Result<Self, StudyError> {
        match (&settings.net, &settings.base) {
            (Some(net), _) => Self::net(&folder.join(net), GoalText::until(settings.until.as_deref())),
            (None, Some(base)) => Self::job(&folder.join(base)),
            (None, None) => Ok(Self { subject: Subject::job(&Plan::default())?, warnings: Vec::new() }),
        }
    }

    /// Returns the job or net with `options` in place of values of its plan.
    ///
    /// # Errors
    ///
    /// The errors of [`Subject::planned`].
    pub fn planned(self, options: &[PlanOption]) -> Result<Self, StudyError> {
        Ok(Self { subject: self.subject.planned(options)?, ..self })
    }

    /// Reads a net with a goal.
    ///
    /// # Errors
    ///
    /// [`StudyError::Load`].
    pub fn net(path: &Path, goal: GoalText) -> Result<Self, StudyError> {
        let bytes = read(path)?;
        let found = match read_bytes(&bytes, &options_beside(path, &ReadOptions::default())) {
            Ok(found) => found,
            Err(error) => return Err(LoadError::Net { path: path.to_owned(), bytes, error }.into()),
        };
        let subject = with_goal(found.net, goal, String::from_utf8_lossy(&bytes).into_owned())?;
        let mut warnings = Vec::new();
        if !found.warnings.is_empty() {
            let text = pipe::decode(&bytes).unwrap_or_default().into_owned();
            warnings.push(LoadWarning::Net { path: path.to_owned(), text, warnings: found.warnings });
        }
        Ok(Self { subject, warnings })
    }

    /// Returns a net in memory with a goal.
    ///
    /// # Errors
    ///
    /// [`LoadError::Goal`].
    pub fn net_in_memory(net: Net, goal: GoalText) -> Result<Self, StudyError> {
        let text = pipe::write(&net, &WriteOptions::default()).xml;
        Ok(Self { subject: with_goal(net, goal, text)?, warnings: Vec::new() })
    }

    /// Reads the plan of a job, or of a job of stages.
    ///
    /// # Errors
    ///
    /// [`StudyError::Load`].
    pub fn job(path: &Path) -> Result<Self, StudyError> {
        let path = path.to_owned();
        let text = read_text(&path)?;
        let mut warnings = Vec::new();
        if text.parse::<toml::Table>().is_ok_and(|table| table.is_empty()) {
            warnings.push(LoadWarning::Empty { path: path.clone() });
        }
        let subject = match JobPlan::from_toml(&text) {
            Ok(JobPlan::MapReduce(plan)) => Subject::job(&plan)?,
            Ok(JobPlan::Stages(plan)) => Subject::stages(&plan)?,
            Ok(plan @ JobPlan::Tasks(_)) => {
                return Err(LoadError::Tasks { path, described_by: plan.described_by() }.into());
            }
            Err(error) => return Err(LoadError::Job { path, text, error }.into()),
        };
        Ok(Self { subject, warnings })
    }
}

/// Returns a net with a goal as the subject; `text` is its file.
fn with_goal(net: Net, goal: GoalText, text: String) -> Result<Subject, LoadError> {
    match goal.fault(&net) {
        Some((option, said, error)) => {
            let said = said.to_owned();
            Err(LoadError::Goal { option, text: said, net: Box::new(net), error })
        }
        None => Ok(Subject::net_of_text(net, goal, text)),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    bounded::read_file(path).map_err(|error| LoadError::Io { path: path.to_owned(), error })
}

/// Reads the plan of a study.
pub(crate) fn open_plan<P>(path: &Path, parse: impl Fn(&str) -> Result<P, PlanError>) -> Result<P, StudyError> {
    Ok(parse(&read_text(path)?)?)
}

/// Returns the text of a plan.
fn read_text(path: &Path) -> Result<String, LoadError> {
    String::from_utf8(read(path)?).map_err(|_| LoadError::NotText { path: path.to_owned() })
}
