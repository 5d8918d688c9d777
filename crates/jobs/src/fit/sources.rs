//! The size of a job's input: all data read by its stages from outside, each source once.
//!
//! A stage's input bytes include newly read data, data already read by an earlier stage, and cached data. Only the
//! first is input of the job. A stage that starts with a dataset of an earlier stage reads the same source again, and so does a stage that scans the same
//! table: two queries may read different columns of it, so the larger amount counts. A stage of another job also reads it again if the stage reads the same amount, or a small multiple of this amount. A
//! stage that reads hardly anything inspects the schema of the data.

/// Amounts that differ by less than this share count as equal.
const SAME: f64 = 0.02;
/// Readings of one dataset that differ by more than this share trigger a warning.
const DISAGREE: f64 = 0.1;
/// Maximum number of times that a stage may read a source in one pass, for instance to zip it with itself.
const MOST_TIMES: f64 = 4.0;
/// A source with less than this share of the largest one is a schema inspection.
const METADATA: f64 = 0.01;

/// Data that a stage reads from outside a shuffle.
pub(super) struct Reading<'a> {
    /// The stage, by position.
    pub(super) stage: usize,
    /// Input bytes \[MB\].
    pub(super) mb: f64,
    /// Numbers of the datasets without parents.
    pub(super) sources: &'a [u32],
    /// Numbers of the stage's cached datasets.
    pub(super) stored: &'a [u32],
    /// Operators of the stage's query.
    pub(super) operators: &'a [String],
    /// Jobs that the stage belongs to.
    pub(super) jobs: &'a [usize],
}

impl<'a> Reading<'a> {
    /// Returns the tables that the stage scans.
    fn tables(&self) -> impl Iterator<Item = &'a str> {
        // a scan without the name of a table may be of any data
        let is_table = |operator: &&str| operator.starts_with("Scan ") && *operator != "Scan ExistingRDD";
        self.operators.iter().map(String::as_str).filter(is_table)
    }

    /// Returns true if the stage reads only what an earlier stage has cached.
    fn is_of_cache(&self) -> bool {
        self.operators.iter().any(|operator| operator.starts_with("InMemoryTableScan"))
            && self.tables().next().is_none()
    }

    /// Returns true if both stages scan a table, and the same, in different queries: within one query, two tables may have the same last part of their
    /// path.
    fn scans_the_same(&self, other: &Self) -> bool {
        !self.jobs.iter().any(|job| other.jobs.contains(job))
            && self.tables().any(|table| other.tables().any(|other| other == table))
    }
}

/// A source of the job's input.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The stages that read the source, by position.
    pub stages: Vec<usize>,
    /// Size \[MB\].
    pub mb: f64,
}

struct FirstReading<'a> {
    source: Source,
    first: &'a Reading<'a>,
}

/// Returns the sources of a job, in the order of their first reading, with warnings.
pub(super) fn sources(readings: &[Reading<'_>]) -> (Vec<Source>, Vec<String>) {
    let mut found: Vec<FirstReading<'_>> = Vec::new();
    let mut notes = Vec::new();
    for (i, reading) in readings.iter().enumerate() {
        let is_kept = readings[..i].iter().any(|before| shared(before.stored, reading.stored));
        if reading.mb <= 0.0 || is_kept || reading.is_of_cache() {
            continue;
        }
        if let Some(known) = found.iter_mut().find(|known| known.first.scans_the_same(reading)) {
            known.source.mb = known.source.mb.max(reading.mb);
            known.source.stages.push(reading.stage);
            continue;
        }
        if let Some(known) = found.iter_mut().find(|known| shared(known.first.sources, reading.sources)) {
            if multiple(reading.mb, known.source.mb, DISAGREE).is_none() {
                let (a, b) = (known.first.stage, reading.stage);
                let (x, y) = (known.source.mb, reading.mb);
                notes.push(format!(
                    "stages {a} and {b} read the same data, but report {x:.4} and {y:.4} MB; the larger amount is used"
                ));
                known.source.mb = x.max(y);
            }
            known.source.stages.push(reading.stage);
            continue;
        }
        let again = |known: &&mut FirstReading<'_>| {
            let are_tables = known.first.tables().next().is_some() && reading.tables().next().is_some();
            !are_tables
                && multiple(reading.mb, known.source.mb, SAME).is_some()
                && !known.first.jobs.iter().any(|job| reading.jobs.contains(job))
        };
        match found.iter_mut().find(again) {
            Some(known) => known.source.stages.push(reading.stage),
            None => {
                let source = Source { stages: vec![reading.stage], mb: reading.mb };
                found.push(FirstReading { source, first: reading });
            }
        }
    }
    let largest = found.iter().map(|found| found.source.mb).fold(0.0, f64::max);
    found.retain(|found| found.source.mb >= METADATA * largest);
    (found.into_iter().map(|found| found.source).collect(), notes)
}

fn shared(a: &[u32], b: &[u32]) -> bool {
    a.iter().any(|number| b.contains(number))
}

/// Returns the number of times that `mb` fits into `read`, up to a few times, if it fits within this share.
fn multiple(read: f64, mb: f64, share: f64) -> Option<f64> {
    let times = (read / mb).round().clamp(1.0, MOST_TIMES);
    ((read / (times * mb) - 1.0).abs() <= share).then_some(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading<'a>(stage: usize, mb: f64, sources: &'a [u32], stored: &'a [u32], jobs: &'a [usize]) -> Reading<'a> {
        Reading { stage, mb, sources, stored, operators: &[], jobs }
    }

    /// The amounts of K-means: each job lists the file anew, the second reads it twice and caches the result, the next ones read the cache, the last
    /// reads the file again.
    #[test]
    fn a_source_counts_once_however_often_it_is_read() {
        let all = [
            reading(0, 64.0, &[6], &[], &[0]),
            reading(2, 128.0, &[15], &[24], &[1]),
            reading(3, 145.7, &[15], &[24], &[2]),
            reading(4, 168.4, &[15], &[24], &[3]),
            reading(14, 64.0, &[80], &[], &[9]),
        ];
        let (found, notes) = sources(&all);
        assert_eq!(found, [Source { stages: vec![0, 2, 14], mb: 64.0 }]);
        assert!(notes.is_empty());
    }

    /// Two queries read different columns of one table, a third its cached rows; another table of the same size is another source.
    #[test]
    fn a_table_counts_once_however_many_queries_read_it() {
        let scan = |table: &str| [format!("Scan parquet {table}"), "Filter".to_owned()];
        let (orders, lines, cache) = (scan("orders"), scan("lines"), ["InMemoryTableScan".to_owned()]);
        let of = |stage, mb, operators, jobs| Reading { stage, mb, sources: &[], stored: &[], operators, jobs };
        let all = [
            of(0, 30.0, &lines[..], &[0]),
            of(1, 50.0, &lines[..], &[1]),
            of(2, 50.0, &orders[..], &[2]),
            of(3, 50.0, &cache[..], &[3]),
        ];
        let (found, notes) = sources(&all);
        assert_eq!(found, [Source { stages: vec![0, 1], mb: 50.0 }, Source { stages: vec![2], mb: 50.0 }]);
        assert!(notes.is_empty());
    }

    #[test]
    fn two_tables_of_one_join_are_two_sources_even_if_they_are_equal() {
        let (found, _) = sources(&[reading(0, 6.0, &[0], &[], &[0]), reading(1, 6.0, &[6], &[], &[0])]);
        assert_eq!(found.iter().map(|source| source.mb).sum::<f64>(), 12.0);
        // the same amount in another job is the same data
        let (found, _) = sources(&[reading(0, 6.0, &[0], &[], &[0]), reading(1, 6.0, &[6], &[], &[1])]);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn a_schema_inference_read_is_not_input() {
        let (found, notes) = sources(&[reading(0, 0.001, &[0], &[], &[0]), reading(3, 500.0, &[9], &[], &[1])]);
        assert_eq!(found, [Source { stages: vec![3], mb: 500.0 }]);
        assert!(notes.is_empty());
    }

    #[test]
    fn stages_that_disagree_are_told() {
        let (found, notes) = sources(&[reading(0, 10.0, &[7], &[], &[0]), reading(2, 260.0, &[7], &[], &[1])]);
        assert_eq!(found, [Source { stages: vec![0, 2], mb: 260.0 }]);
        assert!(notes[0].contains("stages 0 and 2") && notes[0].contains("260"), "{notes:?}");
    }
}
