//! Kinds whose documents are still built here, and the page of results that were read.

mod diagnosis;
mod estimate;
mod fit;
mod optimization;
mod sensitivity;
mod simulation;
mod solution;
mod stages;
mod sweep;
mod trace;

use crate::document::{Document, Report as _};
use crate::render::{Part, html};
use crate::report::plot::{Picture, PlotError};
use crate::report::read::Found;

/// A result and what is shown with it.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The result.
    pub found: Found,
    /// Where it was read, for the list of where numbers come from.
    pub source: String,
    /// A plan given along; else the page shows the one that the result carries.
    pub plan: Option<String>,
    /// A picture of the net: what it shows, and the SVG document.
    pub net: Option<(String, String)>,
}

impl Found {
    /// Returns the result as a person reads it.
    ///
    /// # Errors
    ///
    /// [`PlotError`], which no report of this crate causes.
    pub fn document(&self) -> Result<Document<'_>, PlotError> {
        match self {
            Self::Estimate(report) => estimate::section(report),
            Self::Stages(report) => stages::section(report),
            Self::Simulation(report) => simulation::section(report),
            Self::Steady(report) => Ok(simulation::steady_section(report)),
            Self::Solution(report) => solution::section(report),
            Self::WhatIf(report) => Ok(report.document()),
            Self::Trace(report) => trace::section(report),
            Self::Sweep(report) => sweep::section(report),
            Self::Diagnosis(report) => diagnosis::section(report),
            Self::Sensitivity(report) => sensitivity::section(report),
            Self::Optimization(report) => optimization::section(report),
            Self::Fit(report) => fit::section(report),
            Self::FitJob(report) => Ok(report.document()),
        }
    }
}

/// Returns the page.
///
/// # Errors
///
/// [`PlotError`], which no report of this crate causes.
pub fn page(results: &[Shown]) -> Result<String, PlotError> {
    fn part(shown: &Shown) -> Result<Part<'_>, PlotError> {
        let mut document = shown.found.document()?;
        if let Some(plan) = &shown.plan {
            document.plan.clone_from(plan);
        }
        document.provenance.push(["read from".to_owned(), shown.source.clone()]);
        Ok(Part { document, net: shown.net.clone() })
    }
    html(&results.iter().map(part).collect::<Result<Vec<_>, PlotError>>()?)
}

/// Draws the pictures of a result, for files of their own.
///
/// # Errors
///
/// [`PlotError`], which no report of this crate causes.
pub fn pictures(found: &Found) -> Result<Vec<Picture>, PlotError> {
    found.document()?.pictures()
}
