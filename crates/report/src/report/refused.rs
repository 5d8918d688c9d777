//! The refusal of advice: a question that rests on a model which does not reproduce its own runs.

use serde::{Deserialize, Serialize};

use crate::document::{Column, Document, NextCommand, Number, Report, Screen, Table};
use crate::job_time::{OwnRun, ReproducedRun};
use crate::report::own_run::warning;
use crate::report::screens::{misfit, verdict};

/// The refused questions.
const REFUSED: &str =
    "lists, deadlines, policies and studies: they need a model that reproduces its own runs; exit code 8";

/// The refusal of a question for advice, because the model does not reproduce its own runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RefusedReport {
    /// The check of the plan on the runs that it was fitted to.
    pub own_run: OwnRun,
    /// Version of tailspn.
    pub version: String,
}

impl RefusedReport {
    /// Returns the refusal of a question by the check of its plan.
    pub fn new(own_run: OwnRun) -> Self {
        Self { own_run, version: env!("CARGO_PKG_VERSION").to_owned() }
    }
}

impl RefusedReport {
    /// Returns the runs with the time that the model gives them.
    fn runs(&self) -> Table {
        let time = |i: usize, key: &str, seconds: f64| Number::new(format!("/own_run/runs/{i}/{key}"), seconds, "s");
        let row = |(i, run): (usize, &ReproducedRun)| {
            let [logged, model] = [time(i, "logged_s", run.logged_s), time(i, "model_s", run.model_s)];
            vec![run.log.clone().into(), logged.three_digits().into(), model.three_digits().into()]
        };
        let columns = vec![
            Column::new("log"),
            Column::new("logged").unit("s").key("logged"),
            Column::new("model").unit("s").key("model"),
        ];
        Table::new("Runs of the logs", "", columns).rows(self.own_run.runs.iter().enumerate().map(row))
    }
}

impl Report for RefusedReport {
    const KIND: &'static str = "refused";
    const HAS_VERSION: bool = true;

    fn document(&self) -> Document<'_> {
        let mut document = Document {
            kind: "refusal of a question",
            title: "Refused".to_owned(),
            question: "Whether the model may give advice.".to_owned(),
            answer: warning(&self.own_run).into(),
            screen: Some(Screen {
                answer: misfit(&self.own_run).unwrap_or_default(),
                own_run: Some(verdict(&self.own_run, "model")),
                refused: REFUSED.to_owned(),
                next: vec![
                    NextCommand::new("tailspn why LOG", "what was slow in this run"),
                    NextCommand::new("tailspn estimate FILE --trust-misfit", "all answers, marked as not proved"),
                ],
                ..Screen::default()
            }),
            ..Document::default()
        };
        document.table(self.runs());
        document
    }
}
