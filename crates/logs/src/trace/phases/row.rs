//! The columns and rows of a phase log, and what is wrong with them.

use crate::trace::phases::log::TaskKind;

/// Latest time that a row may have \[s\]: 30 years.
const LATEST_S: f64 = 1e9;

/// Columns that a log must have.
const REQUIRED: [&str; 6] = ["kind", "task", "slot", "phase", "start_s", "end_s"];
/// Columns that a log may have.
const OPTIONAL: [&str; 6] = ["bytes", "node", "attempt", "job", "cores", "permits"];
/// Columns that tell a phase log from other tables.
const TELLING: [&str; 4] = ["kind", "phase", "start_s", "end_s"];

/// Returns true if the cells of a row are the header of a phase log.
pub(in crate::trace) fn is_header(cells: &[&str]) -> bool {
    TELLING.iter().all(|name| cells.contains(name))
}

/// Splits a line into cells; none if quotes do not match, or if the line is not UTF-8.
pub(super) fn cells_of(line: &[u8]) -> Option<csv::StringRecord> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).trim(csv::Trim::All).from_reader(line);
    let mut cells = csv::StringRecord::new();
    let has_cells = reader.read_record(&mut cells).ok()?;
    has_cells.then_some(cells)
}

/// The header of a log: the place of each column.
#[derive(Clone, Debug)]
pub(super) struct Header {
    columns: usize,
    required: [usize; 6],
    optional: [Option<usize>; 6],
    /// Columns that are not in the format.
    pub(super) unknown: Vec<String>,
}

impl Header {
    /// Reads the names of the columns.
    pub(super) fn of(cells: &csv::StringRecord) -> Result<Self, String> {
        let place = |name: &str| cells.iter().position(|cell| cell == name);
        for (i, name) in cells.iter().enumerate() {
            if place(name) != Some(i) {
                return Err(format!("the header has the column `{name}` twice"));
            }
        }
        let mut required = [0; 6];
        for (at, name) in required.iter_mut().zip(REQUIRED) {
            *at = place(name).ok_or_else(|| format!("the header lacks the column `{name}`"))?;
        }
        let is_known = |name: &&str| REQUIRED.contains(name) || OPTIONAL.contains(name);
        let unknown = cells.iter().filter(|name| !is_known(name)).map(str::to_owned).collect();
        Ok(Self { columns: cells.len(), required, optional: OPTIONAL.map(place), unknown })
    }
}

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) kind: TaskKind,
    pub(super) task: u32,
    pub(super) slot: u32,
    pub(super) phase: String,
    pub(super) start_s: f64,
    pub(super) end_s: f64,
    pub(super) bytes: Option<u64>,
    pub(super) node: String,
    pub(super) attempt: u32,
    pub(super) job: String,
    pub(super) cores: Option<f64>,
    pub(super) permits: Option<u64>,
}

impl Row {
    /// Reads a row.
    ///
    /// # Errors
    ///
    /// A description of the first error of the row.
    pub(super) fn of(cells: &csv::StringRecord, header: &Header) -> Result<Self, String> {
        if cells.len() != header.columns {
            return Err(format!("{} cells; the header has {}", cells.len(), header.columns));
        }
        let [kind, task, slot, phase, start, end] = header.required.map(|at| cells.get(at).unwrap_or_default());
        let [bytes, node, attempt, job, cores, permits] =
            header.optional.map(|at| at.and_then(|at| cells.get(at)).unwrap_or_default());
        let kind = match kind {
            "map" => TaskKind::Map,
            "reduce" => TaskKind::Reduce,
            "slot" => TaskKind::Slot,
            other => return Err(format!("`kind` is `{other}`; it must be map, reduce or slot")),
        };
        if phase.is_empty() {
            return Err("`phase` is empty".to_owned());
        }
        let (start_s, end_s) = (seconds("start_s", start)?, seconds("end_s", end)?);
        if end_s < start_s {
            return Err(format!("`end_s` {end} is before `start_s` {start}"));
        }
        let cores: Option<f64> = optional("cores", cores, "a number above 0")?;
        if cores.is_some_and(|cores| !(cores.is_finite() && cores > 0.0)) {
            return Err("`cores` must be a number above 0".to_owned());
        }
        Ok(Self {
            kind,
            task: whole("task", task)?,
            slot: whole("slot", slot)?,
            phase: phase.to_owned(),
            start_s,
            end_s,
            bytes: optional("bytes", bytes, "a whole number, or empty")?,
            node: node.to_owned(),
            attempt: optional("attempt", attempt, "a whole number, or empty")?.unwrap_or(0),
            job: job.to_owned(),
            cores,
            permits: optional("permits", permits, "a whole number, or empty")?,
        })
    }
}

fn whole(column: &str, cell: &str) -> Result<u32, String> {
    cell.parse().map_err(|_| format!("`{column}` is `{cell}`; it must be a whole number"))
}

fn optional<T: std::str::FromStr>(column: &str, cell: &str, rule: &str) -> Result<Option<T>, String> {
    if cell.is_empty() {
        return Ok(None);
    }
    cell.parse().map(Some).map_err(|_| format!("`{column}` is `{cell}`; it must be {rule}"))
}

fn seconds(column: &str, cell: &str) -> Result<f64, String> {
    let time = cell.parse().ok().filter(|time: &f64| (0.0..=LATEST_S).contains(time));
    time.ok_or_else(|| format!("`{column}` is `{cell}`; it must be seconds since the start of the job, 0 to 1e9"))
}
