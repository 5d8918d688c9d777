//! The meaning of the columns of a table of runs, from their names and their values.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tailspn_common::explain::{ErrorKind, Explain};

use crate::table::{Cells, Table, cells_of, number};

/// Columns that the user names. The names of other columns show their meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The column of times.
    pub time: Option<String>,
    /// The column of numbers of machines.
    pub machines: Option<String>,
    /// The column of sizes of the input.
    pub size: Option<String>,
    /// Columns that do not set runs apart.
    pub ignored: Vec<String>,
}

/// The meaning of each column, by position.
#[derive(Clone, Debug, PartialEq)]
pub struct Roles {
    /// The time of a run.
    pub time: usize,
    /// Seconds of a unit of the time.
    pub time_s: f64,
    /// The number of machines.
    pub machines: Option<usize>,
    /// The size of the input.
    pub size: Option<usize>,
    /// MB of a unit of the size; none if its name states no unit.
    pub size_mb: Option<f64>,
    /// Columns that set runs apart besides: the kind of machine, other settings.
    pub kinds: Vec<usize>,
    /// Columns that follow from the others, or differ in each row.
    pub unused: Vec<usize>,
}

/// Reason why a table is not a table of runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RolesError {
    /// No column has the name of a time.
    #[error("no column of the table is a time; the columns are {names}")]
    NoTime {
        /// The columns.
        names: String,
    },
    /// Several columns may be the time.
    #[error("several columns may be the time of a run: {names}")]
    SeveralTimes {
        /// The columns.
        names: String,
    },
    /// A column that the table does not have.
    #[error("the table has no column `{name}`; the columns are {names}")]
    Unknown {
        /// The name.
        name: String,
        /// The columns.
        names: String,
    },
    /// A column of words.
    #[error("column `{name}` must have numbers, but line {line} has `{found}`")]
    Words {
        /// The name.
        name: String,
        /// The line, from 1.
        line: u64,
        /// The cell.
        found: String,
    },
    /// A number out of range.
    #[error("line {line}, column `{name}`: {found} is not {wanted}")]
    Range {
        /// The name.
        name: String,
        /// The line, from 1.
        line: u64,
        /// The cell.
        found: String,
        /// The allowed values.
        wanted: &'static str,
    },
    /// Neither a number of machines nor a size.
    #[error("no column of the table is a number of machines or a size; the columns are {names}")]
    NoAxis {
        /// The columns.
        names: String,
    },
}

impl Explain for RolesError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Words { .. } | Self::Range { .. } => ErrorKind::Model,
            _ => ErrorKind::Usage,
        }
    }

    fn help(&self) -> Option<Cow<'static, str>> {
        Some(match self {
            Self::NoTime { .. } | Self::SeveralTimes { .. } => {
                "name the column of times with --time-column NAME".into()
            }
            Self::NoAxis { .. } => "name a column with --machines-column NAME or --size-column NAME".into(),
            _ => "see docs/tables.md".into(),
        })
    }
}

/// Returns the words of a name, in small letters: `gross_runtime`, `dataSizeMB` and `time [s]` have two or three.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        let is_new = letter.is_uppercase() && before.is_lowercase();
        if (is_new || !letter.is_alphanumeric()) && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| letter.is_alphanumeric()) {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the rank of a name as a time, the best first; none for other columns.
fn time_rank(name: &str) -> Option<usize> {
    const RANKS: [&[&str]; 4] = [
        &["runtime", "makespan"],
        &["duration", "elapsed", "wall", "walltime"],
        &["time", "seconds", "latency"],
        &["ms", "s"],
    ];
    const OTHER: [&str; 8] = ["start", "end", "submit", "submitted", "date", "timestamp", "cpu", "limit"];
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    if has(&OTHER) { None } else { RANKS.iter().position(|rank| has(rank)) }
}

/// Returns true if a column of this name may have times.
fn is_time(name: &str) -> bool {
    time_rank(name).is_some()
}

/// Returns the seconds of the unit in a name; without one, times are in seconds.
fn unit_s(name: &str) -> f64 {
    let unit = |word: &String| match word.as_str() {
        "ns" | "nanos" | "nanoseconds" => Some(1e-9),
        "us" | "micros" | "microseconds" => Some(1e-6),
        "ms" | "msec" | "millis" | "milliseconds" => Some(1e-3),
        "s" | "sec" | "secs" | "seconds" | "raw" => Some(1.0),
        "min" | "mins" | "minutes" => Some(60.0),
        "h" | "hr" | "hrs" | "hours" => Some(3600.0),
        _ => None,
    };
    words(name).iter().rev().find_map(unit).unwrap_or(1.0)
}

/// Words in names of resources, kinds and results, which are neither numbers of machines nor sizes of the input.
const OTHER: [&str; 21] = [
    "memory", "mem", "ram", "rss", "heap", "disk", "cores", "core", "cpu", "cpus", "type", "kind", "name", "list",
    "id", "spill", "spilled", "shuffle", "output", "page", "format",
];

/// Returns the rank of a name as a number of machines, the best first; none for other columns.
fn machines_rank(name: &str) -> Option<usize> {
    const ALONE: [&str; 7] = ["machines", "nodes", "workers", "executors", "instances", "hosts", "scaleout"];
    const COUNTED: [&str; 8] = ["machine", "node", "worker", "executor", "instance", "host", "cluster", "scale"];
    const COUNT: [&str; 7] = ["count", "num", "number", "n", "no", "size", "out"];
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let ends = || words.iter().any(|word| word.strip_prefix('n').is_some_and(|word| ALONE.contains(&word)));
    if has(&OTHER) {
        None
    } else if has(&ALONE) || ends() {
        Some(usize::from(words.len() > 1))
    } else {
        (has(&COUNTED) && has(&COUNT)).then_some(2)
    }
}

/// Returns the rank of a name as a size of the input, the best first; none for other columns.
fn size_rank(name: &str) -> Option<usize> {
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_input = has(&["input", "data", "dataset"]);
    let is_size = is_input || has(&["size", "volume", "bytes", "scale"]);
    match (is_input, is_size, unit_mb(name).is_some()) {
        _ if has(&OTHER) || has(&["cluster"]) => None,
        (true, _, true) => Some(0),
        (false, true, true) => Some(1),
        (true, _, false) => Some(2),
        (false, false, true) => Some(3),
        (false, true, false) => Some(4),
        (false, false, false) => None,
    }
}

/// Returns the MB of the unit in the name of a size.
fn unit_mb(name: &str) -> Option<f64> {
    let unit = |word: &String| match word.as_str() {
        "bytes" | "b" => Some(1.0 / 1_048_576.0),
        "kb" | "kib" => Some(1.0 / 1024.0),
        "mb" | "mib" => Some(1.0),
        "gb" | "gib" => Some(1024.0),
        "tb" | "tib" => Some(1_048_576.0),
        _ => None,
    };
    words(name).iter().rev().find_map(unit)
}

/// Returns true if a text begins like a table of runs: with a header that has a column of times, and a row of as many cells with a number in that
/// column.
pub fn is_table(head: &[u8]) -> bool {
    let mut lines = head.split(|&byte| byte == b'\n').map(cells_of);
    let (Some(Some(names)), Some(Some(cells))) = (lines.next(), lines.next()) else { return false };
    let is_name = |name: &String| !name.is_empty() && number(name).is_none();
    let is_number = |cell: &str| number(cell).or_else(|| number(&cell.replacen(',', ".", 1))).is_some();
    names.len() == cells.len()
        && names.iter().all(is_name)
        && names.iter().zip(&cells).any(|(name, cell)| is_time(name) && is_number(cell))
}

impl Table {
    /// Returns the meaning of the columns.
    ///
    /// # Errors
    ///
    /// [`RolesError`] if no column, or more than one, can be the time, or if a value of a column cannot be used.
    pub fn roles(&self, chosen: &Chosen) -> Result<Roles, RolesError> {
        let axes = self.axes(chosen)?;
        let ignored = chosen.ignored.iter().map(|name| self.named(name)).collect::<Result<Vec<_>, _>>()?;
        let (kinds, unused) = self.kinds(axes.time, [axes.machines, axes.size], &ignored);
        Ok(Roles { kinds, unused, ..axes })
    }

    /// Returns the columns of times, machines and sizes alone.
    pub(crate) fn axes(&self, chosen: &Chosen) -> Result<Roles, RolesError> {
        let time = self.time(chosen.time.as_deref())?;
        let free =
            |column: usize, taken: &[usize]| !taken.contains(&column) && self.columns[column].numbers().is_some();
        let by_name = |name: &Option<String>, taken: &[usize], rank: &dyn Fn(&str) -> Option<usize>| match name {
            Some(name) => self.named(name).map(Some),
            None => {
                let ranked = (0..self.names.len()).filter(|&column| free(column, taken));
                Ok(ranked
                    .filter_map(|column| Some((rank(&self.names[column])?, column)))
                    .min()
                    .map(|(_, column)| column))
            }
        };
        let machines = by_name(&chosen.machines, &[time], &machines_rank)?;
        let taken: Vec<usize> = [Some(time), machines].into_iter().flatten().collect();
        let size = by_name(&chosen.size, &taken, &size_rank)?;
        if machines.is_none() && size.is_none() {
            return Err(RolesError::NoAxis { names: self.all_names() });
        }
        self.check(time, "a time above 0", |value| value > 0.0)?;
        if let Some(machines) = machines {
            self.check(machines, "a whole number above 0", |value| {
                value >= 1.0 && value.fract() == 0.0 && value <= 1e9
            })?;
        }
        if let Some(size) = size {
            self.check(size, "a size above 0", |value| value > 0.0)?;
        }
        let (kinds, unused) = (Vec::new(), Vec::new());
        let (time_s, size_mb) = (unit_s(&self.names[time]), size.and_then(|size| unit_mb(&self.names[size])));
        Ok(Roles { time, time_s, machines, size, size_mb, kinds, unused })
    }

    /// Returns the names of the columns in a sentence.
    fn all_names(&self) -> String {
        self.names.join(", ")
    }

    fn named(&self, name: &str) -> Result<usize, RolesError> {
        self.place(name).ok_or_else(|| RolesError::Unknown { name: name.to_owned(), names: self.all_names() })
    }

    /// Returns the column of times.
    fn time(&self, name: Option<&str>) -> Result<usize, RolesError> {
        if let Some(name) = name {
            return self.named(name);
        }
        let ranked: Vec<(usize, usize)> =
            self.names.iter().enumerate().filter_map(|(column, name)| Some((time_rank(name)?, column))).collect();
        let best = ranked.iter().map(|(rank, _)| *rank).min();
        let best: Vec<usize> =
            ranked.iter().filter(|(rank, _)| Some(*rank) == best).map(|(_, column)| *column).collect();
        match best[..] {
            [column] => Ok(column),
            [] => Err(RolesError::NoTime { names: self.all_names() }),
            _ => {
                let names: Vec<&str> = best.iter().map(|&column| self.names[column].as_str()).collect();
                Err(RolesError::SeveralTimes { names: names.join(", ") })
            }
        }
    }

    /// Checks the numbers of a column; empty cells are allowed.
    fn check(&self, column: usize, wanted: &'static str, is_valid: impl Fn(f64) -> bool) -> Result<(), RolesError> {
        let name = || self.names[column].clone();
        let cells = &self.columns[column];
        match cells {
            Cells::Words(words) => {
                let is_word = |(_, word): &(usize, &String)| !word.is_empty() && word.parse::<f64>().is_err();
                let row = words.iter().enumerate().find(is_word).map_or(0, |(row, _)| row);
                Err(RolesError::Words { name: name(), line: self.lines[row], found: cells.text(row) })
            }
            Cells::Numbers(numbers) => match numbers.iter().position(|number| !number.is_nan() && !is_valid(*number)) {
                None => Ok(()),
                Some(row) => {
                    Err(RolesError::Range { name: name(), line: self.lines[row], found: cells.text(row), wanted })
                }
            },
        }
    }

    /// Returns the columns that set runs apart besides machines and size, and the columns that are not used.
    fn kinds(&self, time: usize, [machines, size]: [Option<usize>; 2], ignored: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let (mut kinds, mut unused) = (Vec::new(), Vec::new());
        let used = [Some(time), machines, size];
        let others = (0..self.names.len()).filter(|column| !used.contains(&Some(*column)));
        let (words, numbers): (Vec<usize>, Vec<usize>) =
            others.partition(|&column| matches!(self.columns[column], Cells::Words(_)));
        for column in words.into_iter().chain(numbers) {
            // names do not follow from sizes, even if no two kinds have a size in common; a kind of which there is one can be chosen
            let is_words = matches!(self.columns[column], Cells::Words(_));
            let size = size.filter(|_| !is_words);
            let known: Vec<usize> = [machines, size].into_iter().flatten().chain(kinds.iter().copied()).collect();
            let is_only =
                is_words && (1..self.rows()).all(|row| self.columns[column].text(row) == self.columns[column].text(0));
            let follows =
                || self.follows(column, &known) && size.is_none_or(|size| self.rises_or_falls(column, size, &kinds));
            let is_result = || is_time(&self.names[column]) || self.differs_everywhere(column);
            if ignored.contains(&column) || !is_only && (is_result() || follows()) {
                unused.push(column);
            } else {
                kinds.push(column);
            }
        }
        unused.sort_unstable();
        (kinds, unused)
    }

    /// Returns true if nearly all cells of a column differ, as those of a number or a date of the run do.
    fn differs_everywhere(&self, column: usize) -> bool {
        let cells = &self.columns[column];
        let mut all: Vec<String> = (0..self.rows()).map(|row| cells.text(row)).collect();
        all.sort_unstable();
        all.dedup();
        self.rows() > 9 && 10 * all.len() > 8 * self.rows()
    }

    /// Returns true if the numbers of a column only rise or only fall with the size of the input, for runs of the same kind. Otherwise the size is not
    /// all that the column says.
    fn rises_or_falls(&self, column: usize, size: usize, kinds: &[usize]) -> bool {
        let (Some(values), Some(sizes)) = (self.columns[column].numbers(), self.columns[size].numbers()) else {
            return true;
        };
        let mut groups: BTreeMap<Vec<String>, Vec<[f64; 2]>> = BTreeMap::new();
        for row in 0..self.rows() {
            let key = kinds.iter().map(|&column| self.columns[column].text(row)).collect();
            groups.entry(key).or_default().push([sizes[row], values[row]]);
        }
        groups.into_values().all(|mut points| {
            points.sort_by(|a, b| a[0].total_cmp(&b[0]));
            let steps = || {
                points.windows(2).map(|pair| (pair[1][1] - pair[0][1]) * f64::from(u8::from(pair[1][0] > pair[0][0])))
            };
            steps().all(|step| step >= 0.0) || steps().all(|step| step <= 0.0)
        })
    }

    /// Returns true if the cells of a column follow from those of other columns.
    fn follows(&self, column: usize, known: &[usize]) -> bool {
        let mut found: BTreeMap<Vec<String>, String> = BTreeMap::new();
        (0..self.rows()).all(|row| {
            let key = known.iter().map(|&column| self.columns[column].text(row)).collect();
            let own = self.columns[column].text(row);
            *found.entry(key).or_insert_with(|| own.clone()) == own
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_columns_mean() {
        assert_eq!(words("dataSizeMB"), ["data", "size", "mb"]);
        assert_eq!(words("time [ms]"), ["time", "ms"]);
        assert_eq!(
            ["gross_runtime", "wall_s", "Time", "start_time", "cpu_time", "size"].map(time_rank),
            [Some(0), Some(1), Some(2), None, None, None]
        );
        for machines in
            ["instance_count", "nodes", "num_workers", "scale_out", "cluster_size", "scaleOut", "NNodes", "AllocNodes"]
        {
            assert!(machines_rank(machines).is_some(), "{machines}");
        }
        assert!(machines_rank("executors") < machines_rank("worker_nodes"));
        for other in ["machine_type", "node", "slots", "size", "instance", "executor_memory_size", "NodeList"] {
            assert!(machines_rank(other).is_none(), "{other}");
        }
        let ranks = ["data_size_MB", "size_gb", "input", "gb", "scale", "memory", "ram_gb"].map(size_rank);
        assert_eq!(ranks, [Some(0), Some(1), Some(2), Some(3), Some(4), None, None]);
        assert_eq!((unit_s("min_runtime_s"), unit_s("time (min)"), unit_s("duration_ns")), (1.0, 60.0, 1e-9));
        assert_eq!((unit_s("duration_ms"), unit_s("runtime")), (1e-3, 1.0));
        assert_eq!((unit_mb("size_gb"), unit_mb("input")), (Some(1024.0), None));
    }

    fn roles(text: &str) -> Result<Roles, RolesError> {
        Table::read(text.as_bytes()).unwrap().roles(&Chosen::default())
    }

    #[test]
    fn columns_that_follow_from_others_are_not_used() {
        let row = |i: usize| {
            let (nodes, kind, share) = (2 + 2 * (i / 4 % 2), ["a", "b"][i % 2], ["0.1", "0.9"][i / 2 % 2]);
            let slots = nodes * if kind == "a" { 8 } else { 4 };
            format!("{nodes},{kind},{slots},{},{nodes},{share},r{i},{}\n", 5 * nodes, 40 + i)
        };
        let header = "instance_count,machine_type,slots,data_size_MB,lines,share,run,gross_runtime\n".to_owned();
        let text = &(header + &(0..16).map(row).collect::<String>());
        let found = roles(text).unwrap();
        assert_eq!((found.time, found.machines, found.size, found.size_mb), (7, Some(0), Some(3), Some(1.0)));
        assert_eq!((found.kinds, found.unused), (vec![1, 5], vec![2, 4, 6]));
    }

    #[test]
    fn a_column_that_the_size_does_not_order_sets_runs_apart() {
        // five features with more and more rows, then more features
        let text =
            "nodes,size_mb,features,rows,runtime\n2,10,5,10,1\n2,20,5,20,2\n2,21,10,10,3\n2,30,5,30,4\n2,10,5,10,1\n";
        let found = roles(text).unwrap();
        assert_eq!((found.kinds, found.unused), (vec![2], vec![3]));
        // one type of machine can be chosen; an id of a run is not used
        let text = "type,nodes,job,elapsed\n".to_owned()
            + &(0..12).map(|i| format!("m4,{},{i},00:0{}:10\n", 1 + i % 3, i % 10)).collect::<String>();
        let found = roles(&text).unwrap();
        assert_eq!((found.kinds, found.unused), (vec![0], vec![2]));
        // programs whose sizes happen to differ
        let text = "nodes,size_mb,program,tasks,runtime\n1,10,a,4,1\n2,10,a,4,2\n1,21,b,9,3\n2,30,b,9,4\n1,10,a,4,1\n";
        assert_eq!(roles(text).unwrap().kinds, [2]);
    }

    #[test]
    fn tables_without_times_or_with_wrong_values_are_refused() {
        assert!(matches!(roles("nodes,a\n1,2\n"), Err(RolesError::NoTime { .. })));
        assert!(matches!(roles("nodes,runtime,makespan\n1,2,3\n"), Err(RolesError::SeveralTimes { .. })));
        assert!(matches!(roles("a,runtime\n1,2\n"), Err(RolesError::NoAxis { .. })));
        assert!(matches!(roles("nodes,runtime\n1,x\n"), Err(RolesError::Words { line: 2, .. })));
        assert!(matches!(roles("nodes,runtime\n1,3\n1,0\n"), Err(RolesError::Range { line: 3, .. })));
        assert!(matches!(roles("nodes,runtime\n1.5,3\n"), Err(RolesError::Range { line: 2, .. })));
        let table = Table::read(b"nodes,a,b\n1,2,3\n").unwrap();
        let named = |name: &str| table.roles(&Chosen { time: Some(name.to_owned()), ..Chosen::default() });
        assert_eq!(named("b").unwrap().time, 2);
        assert!(matches!(named("c"), Err(RolesError::Unknown { .. })));
    }

    #[test]
    fn tables_of_runs_are_told_by_their_header() {
        assert!(is_table(b"instance_count\tgross_runtime\n2\t150\n"));
        assert!(is_table(b"nodes;time [s]\n2;1.5\n"));
        for other in ["", "time\n3\n", "a,b\n1,2\n", "3,time\n1,2\n", "time,b\nx,2\n", "time,b\n1\n", "<net>,time\n"] {
            assert!(!is_table(other.as_bytes()), "{other}");
        }
    }
}
