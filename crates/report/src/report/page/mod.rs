//! The page of results that were read.

use crate::render::{Part, html};
use crate::report::plot::PlotError;
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
