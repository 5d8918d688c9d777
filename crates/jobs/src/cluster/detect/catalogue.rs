//! The list of detectors, with their sources and the information that each needs.

use crate::cluster::detect::by_score::ByScore;
use crate::cluster::detect::hadoop2::Hadoop2;
use crate::cluster::detect::hierarchical::Hierarchical;
use crate::cluster::detect::late::Late;
use crate::cluster::detect::mantri::Mantri;
use crate::cluster::detect::plan::DetectorPlan;
use crate::cluster::detect::spark::Spark;

/// Description of a detector.
#[derive(Clone, Copy, Debug)]
pub struct CatalogueEntry {
    /// Name in plans.
    pub name: &'static str,
    /// Condition under which a task is flagged.
    pub rule: &'static str,
    /// Information that the detector needs.
    pub needs: &'static str,
    /// Key in docs/references.md.
    pub source: &'static str,
    /// Constructor with the default settings.
    pub settings: fn() -> DetectorPlan,
}

/// All detectors.
pub const CATALOGUE: [CatalogueEntry; 8] = [
    CatalogueEntry { name: "none", rule: "never", needs: "nothing", source: "", settings: || DetectorPlan::None },
    CatalogueEntry {
        name: "clone",
        rule: "always: every task is started twice, without detection",
        needs: "nothing",
        source: "Ananthanarayanan2013",
        settings: || DetectorPlan::Clone,
    },
    CatalogueEntry {
        name: "default",
        rule: "progress score < mean score - 0.2",
        needs: "progress scores",
        source: "Dean2004",
        settings: || DetectorPlan::Default(ByScore::default()),
    },
    CatalogueEntry {
        name: "late",
        rule: "progress rate < mean - 1.0 SD of the running tasks' rates",
        needs: "progress scores, start times",
        source: "Zaharia2008",
        settings: || DetectorPlan::Late(Late::default()),
    },
    CatalogueEntry {
        name: "hierarchical",
        rule: "flagged by default (or late), on a node below 0.9 of the mean speed",
        needs: "progress scores, start times, input sizes, placement of attempts",
        source: "Phan2018",
        settings: || DetectorPlan::Hierarchical(Hierarchical::default()),
    },
    CatalogueEntry {
        name: "hadoop2",
        rule: "one per check: the task for which a new attempt of mean length would save most",
        needs: "progress scores, start times, times of finished tasks",
        source: "Hadoop2014",
        settings: || DetectorPlan::Hadoop2(Hadoop2::default()),
    },
    CatalogueEntry {
        name: "spark",
        rule: "age > 3 medians after 90% of the tasks have finished, unless the task processes its input fast enough",
        needs: "start times, times of finished tasks, bytes processed",
        source: "Spark2024",
        settings: || DetectorPlan::Spark(Spark::default()),
    },
    CatalogueEntry {
        name: "mantri",
        rule: "P(time left > 2 new attempts) > 0.25",
        needs: "progress scores, start times, times of finished tasks",
        source: "Ananthanarayanan2010",
        settings: || DetectorPlan::Mantri(Mantri::default()),
    },
];

impl DetectorPlan {
    /// Returns the detector of that name with its default settings; none for an unknown name.
    pub fn named(name: &str) -> Option<Self> {
        CATALOGUE.iter().find(|entry| entry.name == name).map(|entry| (entry.settings)())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_detector_is_found_by_its_name() {
        for entry in &CATALOGUE {
            assert_eq!((entry.settings)().kind().name(), entry.name);
            assert_eq!(DetectorPlan::named(entry.name), Some((entry.settings)()));
        }
        assert_eq!(DetectorPlan::named("nobody"), None);
    }
}
