//! Results as one page of HTML that a person can look at and decide from: no network, no script, readable on a phone and in print.
//!
//! ```text
//! Found ──▶ Section (answer, figures, tables, where the numbers come from) ──▶ HTML
//! ```
//!
//! | question | file |
//! |---|---|
//! | what a section consists of | `section` |
//! | how it looks | `html`, `style.css` |
//! | what is said of a result | a file for each kind: `estimate`, `stages`, `simulation`, `solution`, `whatif`, `trace`, `sweep`, `diagnosis`,
//! | | `sensitivity`, `optimization`, `fit` |
//! | results side by side | `compare` |
//! | tables and sentences that kinds share | `parts` |
//!
//! A new kind of section is a file with a function from its report to a [`Section`], and a line in [`section_of`].
//!
//! Guarantees: the same results give the same bytes; all text of results is escaped; the page loads nothing, by a content security
//! policy in it.

mod compare;
mod diagnosis;
mod estimate;
mod fit;
mod html;
mod optimization;
mod parts;
mod section;
mod sensitivity;
mod simulation;
mod solution;
mod stages;
mod sweep;
mod trace;
mod whatif;

use crate::report::page::compare::comparison;
use crate::report::page::section::Section;
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

/// The section of a result.
fn section_of(found: &Found) -> Result<Section, PlotError> {
    match found {
        Found::Estimate(report) => estimate::section(report),
        Found::Stages(report) => stages::section(report),
        Found::Simulation(report) => simulation::section(report),
        Found::Steady(report) => Ok(simulation::steady_section(report)),
        Found::Solution(report) => solution::section(report),
        Found::WhatIf(report) => whatif::section(report),
        Found::Trace(report) => trace::section(report),
        Found::Sweep(report) => sweep::section(report),
        Found::Diagnosis(report) => diagnosis::section(report),
        Found::Sensitivity(report) => sensitivity::section(report),
        Found::Optimization(report) => optimization::section(report),
        Found::Fit(report) => fit::section(report),
        Found::FitJob(report) => Ok(fit::job_section(report)),
    }
}

/// The page.
///
/// # Errors
///
/// [`PlotError`], which no report of this crate causes.
pub fn page(results: &[Shown]) -> Result<String, PlotError> {
    let mut sections = results.iter().map(|shown| section_of(&shown.found)).collect::<Result<Vec<_>, _>>()?;
    for (section, shown) in sections.iter_mut().zip(results) {
        if let Some(plan) = &shown.plan {
            section.plan.clone_from(plan);
        }
        section.provenance.push(["read from".to_owned(), shown.source.clone()]);
    }
    let compared = comparison(&sections)?;
    Ok(html::document(&sections, compared.as_ref(), results))
}

/// The pictures of a result, for files of their own.
///
/// # Errors
///
/// [`PlotError`], which no report of this crate causes.
pub fn pictures(found: &Found) -> Result<Vec<Picture>, PlotError> {
    Ok(section_of(found)?.figures().map(|figure| figure.picture.clone()).collect())
}
