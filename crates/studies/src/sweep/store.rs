//! Results in a folder: no finished work is lost, and an interrupted sweep can continue.
//!
//! ```text
//! RESULT/sweep.json           the question: the identity of the sweep
//! RESULT/part-000001.jsonl    finished points, one per line, and their checksum; exists while other points are missing
//! RESULT/points.parquet       all points by number, once no point is missing; it replaces the parts
//! ```
//!
//! Parts are JSON lines because they are small, many and short-lived, and can be read line by line. The complete points
//! form a table (`sweep::table`) that other programs can read; its numbers are bit for bit the same.
//!
//! Every file is written under a temporary name and then renamed, so that a kill or a full disk leaves complete files.
//! The bytes of a complete folder do not depend on how often the sweep was interrupted.
//!
//! Checksums reveal other damage to files (by disks, copies, editors). [`read`] refuses the folder and names the file.
//! [`Store::open`] removes a damaged part and reports it; the points of this part run again. With a budget,
//! [`Store::open`] also removes the later parts, since rounds build on earlier rounds.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tailspn_common::bounded;

use crate::job_time::OwnRun;
use crate::share::Shard;
use crate::sim::{FoldedParts, NotFolded};
use crate::sweep::budget::Budget;
use crate::sweep::part;
use crate::sweep::plan::SweepPlan;
use crate::sweep::result::PointResult;
use crate::sweep::store_error::{DamagedPart, StoreError};
use crate::sweep::table;
use crate::whole_file;

/// Version of the files.
const FORMAT_VERSION: u32 = 3;
/// Minimum time between two parts; together with `PART_SHARE` it limits the share of time spent on writing parts.
const PART: Duration = Duration::from_millis(250);
const PART_SHARE: u32 = 100;

/// Returns true if a shard of a sweep contains a point: the points `index`, `index + of`, ..., and the base.
pub(crate) fn has(shard: Shard, point: u64) -> bool {
    point == 0 || (point - 1) % shard.of.max(1) == shard.index - 1
}

/// The identity of a sweep. Two results belong together if their headers are equal except for the shard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Version of the files.
    pub format_version: u32,
    /// Version of tailspn.
    pub version: String,
    /// The shard of these points.
    pub shard: Shard,
    /// Number of points of the whole sweep, including the base.
    pub points: u64,
    /// Seed of every point.
    pub seed: u64,
    /// Confidence level of all intervals.
    pub level: f64,
    /// Total budget of replications for all points, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// The folded parts of the net of the base configuration; none if it runs unfolded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<FoldedParts>,
    /// Parts of that net that look alike but are not folded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_folded: Vec<NotFolded>,
    /// The check of the base plan on the runs that it was fitted to; none if the base is a net.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_run: Option<OwnRun>,
    /// The sweep's plan with all keys written out.
    pub plan: String,
    /// Text of the subject of the sweep: a job's plan or a net.
    pub base: String,
}

/// Returns the first line in which two texts differ: the quoted line of each text, or "nothing" if a text has ended. None if they are equal.
fn first_change(one: &str, other: &str) -> Option<[String; 2]> {
    let [mut one, mut other] = [one, other].map(str::lines);
    loop {
        match (one.next(), other.next()) {
            (None, None) => return None,
            (a, b) if a == b => {}
            (a, b) => {
                // lines of a net may be long
                let quoted = |line: &str| format!("`{}`", line.trim().chars().take(80).collect::<String>());
                return Some([a, b].map(|line| line.map_or_else(|| "nothing".to_owned(), quoted)));
            }
        }
    }
}

impl Header {
    /// Returns the identity of a sweep that this version runs.
    pub fn new(shard: Shard, points: u64, seed: u64, level: f64, plan: String, base: String) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self {
            format_version: FORMAT_VERSION,
            version,
            shard,
            points,
            seed,
            level,
            budget: None,
            folded: None,
            not_folded: Vec::new(),
            own_run: None,
            plan,
            base,
        }
    }

    /// Describes the difference to another header; none if they are equal, except for the shard.
    pub(in crate::sweep) fn difference(&self, other: &Self) -> Option<String> {
        let same_level = self.level.to_bits() == other.level.to_bits();
        let checks = [
            (self.seed == other.seed, "the seed", None),
            (self.budget == other.budget, "the budget", None),
            (self.plan == other.plan, "the plan of the sweep", Some([&self.plan, &other.plan])),
            (self.base == other.base, "the base plan or net", Some([&self.base, &other.base])),
            (same_level, "the level of the intervals", None),
            (self.version == other.version, "the version of tailspn", None),
            (self.format_version == other.format_version, "the format of the files", None),
            (self.points == other.points, "the number of points", None),
        ];
        let (_, what, texts) = checks.into_iter().find(|(same, ..)| !same)?;
        let line = texts.and_then(|[own, other]| first_change(own, other));
        Some(line.map_or_else(|| what.to_owned(), |[own, other]| format!("{what} (from {other} to {own})")))
    }
}

/// The stored results of a sweep or of one shard.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// The identity of the sweep.
    pub header: Header,
    /// Finished points by number.
    pub results: BTreeMap<u64, PointResult>,
}

impl Stored {
    /// Returns the number of planned points, including the base.
    pub fn planned(&self) -> u64 {
        (0..self.header.points).filter(|&point| has(self.header.shard, point)).count() as u64
    }

    /// Returns true if no point is missing.
    pub fn has_all_points(&self) -> bool {
        let shard = self.header.shard;
        (0..self.header.points).filter(|&point| has(shard, point)).all(|point| self.results.contains_key(&point))
    }

    /// Returns true if no point is missing and the budget, if any, is spent.
    pub fn is_complete(&self) -> bool {
        let is_spent = |budget: &Budget| budget.next_round(&self.results).is_empty();
        self.has_all_points() && self.header.budget.as_ref().is_none_or(is_spent)
    }
}

fn header_path(folder: &Path) -> PathBuf {
    folder.join("sweep.json")
}

fn points_path(folder: &Path) -> PathBuf {
    folder.join("points.parquet")
}

fn part_path(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("part-{number:06}.jsonl"))
}

/// Returns the parts of a folder with their numbers, in order.
fn parts(folder: &Path) -> Result<Vec<(u32, PathBuf)>, StoreError> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(StoreError::io("read", folder))? {
        let path = entry.map_err(StoreError::io("read", folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("");
        let number = name.strip_prefix("part-").and_then(|rest| rest.strip_suffix(".jsonl")?.parse().ok());
        found.extend(number.map(|number| (number, path)));
    }
    found.sort();
    Ok(found)
}

/// Returns the files that a complete result no longer needs: its parts, and temporary files that a killed process left.
fn leftovers(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let mut found: Vec<PathBuf> = parts(folder)?.into_iter().map(|(_, path)| path).collect();
    for entry in std::fs::read_dir(folder).map_err(StoreError::io("read", folder))? {
        let entry = entry.map_err(StoreError::io("read", folder))?;
        if entry.file_name().to_string_lossy().starts_with(whole_file::PREFIX) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// Returns the points of a part, or why it is damaged.
fn read_part(path: &Path) -> Result<Result<Vec<PointResult>, DamagedPart>, StoreError> {
    let bytes = bounded::read_file(path).map_err(StoreError::io("read", path))?;
    Ok(part::read(&bytes).map_err(|why| DamagedPart { path: path.to_owned(), why }))
}

/// The results in a folder, and the folder's damaged files.
struct Contents {
    stored: Stored,
    damaged: Vec<DamagedPart>,
    /// The damaged parts, and the parts that depend on them.
    worthless: Vec<PathBuf>,
}

/// Reads the result of a sweep, complete or not.
///
/// # Errors
///
/// A folder that cannot be read, that does not hold a sweep, or that has a damaged file.
pub fn read(folder: &Path) -> Result<Stored, StoreError> {
    let Contents { stored, damaged, .. } = contents(folder)?;
    damaged.into_iter().next().map_or(Ok(stored), |part| Err(StoreError::DamagedPart(part)))
}

fn read_header(folder: &Path) -> Result<Header, StoreError> {
    let path = header_path(folder);
    let text = bounded::read_text(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            StoreError::Foreign { path: folder.to_owned(), why: "it contains no `sweep.json`".to_owned() }
        }
        _ => StoreError::io("read", &path)(error),
    })?;
    let foreign = |why| StoreError::Foreign { path: path.clone(), why };
    let header: Header = serde_json::from_str(&text).map_err(|error| foreign(error.to_string()))?;
    let found = header.format_version;
    if found != FORMAT_VERSION {
        return Err(foreign(format!(
            "it has format version {found}, but this version of tailspn reads {FORMAT_VERSION}"
        )));
    }
    let shard = header.shard;
    if shard.of == 0 || !(1..=shard.of).contains(&shard.index) {
        return Err(foreign(format!("its shard number {} of {} is invalid", shard.index, shard.of)));
    }
    Ok(header)
}

/// Reads the intact data in a folder.
fn contents(folder: &Path) -> Result<Contents, StoreError> {
    let header = read_header(folder)?;
    let mut results = BTreeMap::new();
    let whole = points_path(folder);
    if whole.exists() {
        let found = table::read(&whole, axes(&header).len());
        let found = found.map_err(|why| StoreError::DamagedPoints { path: whole, why })?;
        results.extend(found.into_iter().map(|result| (result.point, result)));
    }
    let (mut damaged, mut worthless) = (Vec::new(), Vec::new());
    // a part is newer than the table of points and the parts before it
    for (_, path) in parts(folder)? {
        match read_part(&path)? {
            // a round of a budget depends on all results before it
            Ok(_) if header.budget.is_some() && !damaged.is_empty() => worthless.push(path),
            Ok(found) => results.extend(found.into_iter().map(|result| (result.point, result))),
            Err(part) => {
                damaged.push(part);
                worthless.push(path);
            }
        }
    }
    if let Some(point) = results.keys().find(|&&point| point >= header.points || !has(header.shard, point)) {
        return Err(StoreError::Foreign {
            path: folder.to_owned(),
            why: format!("point {point} is outside the sweep, or outside this shard of it"),
        });
    }
    Ok(Contents { stored: Stored { header, results }, damaged, worthless })
}

/// Returns the keys of the axes of a sweep; empty if its plan cannot be read.
fn axes(header: &Header) -> Vec<String> {
    SweepPlan::from_toml(&header.plan)
        .map_or_else(|_| Vec::new(), |plan| plan.axis.into_iter().map(|axis| axis.key).collect())
}

/// A folder for results.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    stored: Stored,
    /// Numbers of the points that no part holds yet.
    unwritten: Vec<u64>,
    next_part: u32,
    began: Instant,
    written: Instant,
    damaged: Vec<DamagedPart>,
}

impl Store {
    /// Starts a result in a new or empty folder. With `resume`, continues with the results in the folder, if it has any, and
    /// removes damaged parts; see [`Self::damaged`].
    ///
    /// # Errors
    ///
    /// The folder already holds a sweep and `resume` is false, or it holds another sweep or something else, or it is not writable.
    pub fn open(folder: &Path, header: Header, resume: bool) -> Result<Self, StoreError> {
        std::fs::create_dir_all(folder).map_err(StoreError::io("create", folder))?;
        let mut files = std::fs::read_dir(folder).map_err(StoreError::io("read", folder))?;
        if header_path(folder).exists() {
            if !resume {
                return Err(StoreError::Exists { path: folder.to_owned() });
            }
            return Self::go_on(folder, header);
        }
        if files.any(|file| file.is_ok_and(|file| !file.file_name().to_string_lossy().starts_with(whole_file::PREFIX)))
        {
            let why = "it is not empty and contains no `sweep.json`".to_owned();
            return Err(StoreError::Foreign { path: folder.to_owned(), why });
        }
        let store = Self::new(folder, Stored { header, results: BTreeMap::new() }, 1);
        store.write_header()?;
        Ok(store)
    }

    fn new(folder: &Path, stored: Stored, next_part: u32) -> Self {
        let now = Instant::now();
        let (unwritten, damaged) = (Vec::new(), Vec::new());
        Self { folder: folder.to_owned(), stored, unwritten, next_part, began: now, written: now, damaged }
    }

    fn go_on(folder: &Path, header: Header) -> Result<Self, StoreError> {
        let Contents { mut stored, damaged, worthless } = contents(folder)?;
        let shard = (stored.header.shard != header.shard).then(|| "the shard".to_owned());
        if let Some(what) = header.difference(&stored.header).or(shard) {
            return Err(StoreError::Changed { path: folder.to_owned(), what });
        }
        let next_part = parts(folder)?.last().map_or(1, |(number, _)| number + 1);
        // the newest first: if the process is killed, the remaining files still begin with the damaged part
        for path in worthless.iter().rev() {
            std::fs::remove_file(path).map_err(StoreError::io("remove", path))?;
        }
        // an earlier check may have been stopped
        let is_new = header.own_run.is_some() && header.own_run != stored.header.own_run;
        if is_new {
            stored.header.own_run = header.own_run;
        }
        let store = Self { damaged, ..Self::new(folder, stored, next_part) };
        if is_new {
            store.write_header()?;
        }
        Ok(store)
    }

    /// Returns the damaged parts that were removed; their points are missing.
    pub fn damaged(&self) -> &[DamagedPart] {
        &self.damaged
    }

    fn write_header(&self) -> Result<(), StoreError> {
        let path = header_path(&self.folder);
        let mut text = serde_json::to_string_pretty(&self.stored.header).unwrap_or_default();
        text.push('\n');
        whole_file::replace(&path, text.as_bytes()).map_err(StoreError::io("write", &path))
    }

    /// Returns the stored results.
    pub fn stored(&self) -> &Stored {
        &self.stored
    }

    /// Stores a result; it is on the disk a moment later, or after [`Self::close`] at the latest.
    ///
    /// # Errors
    ///
    /// An error of the operating system; in this case, the result stays in memory only.
    pub fn keep(&mut self, result: PointResult) -> Result<(), StoreError> {
        self.put(result);
        // in a long sweep, parts are written less often, so that their number stays small
        let pause = PART.max(self.began.elapsed() / PART_SHARE);
        if self.next_part == 1 || self.written.elapsed() >= pause { self.write_part() } else { Ok(()) }
    }

    /// Stores results that belong together: either all results reach the disk, or none.
    ///
    /// # Errors
    ///
    /// The errors of [`Self::keep`].
    pub fn keep_together(&mut self, results: Vec<PointResult>) -> Result<(), StoreError> {
        // results that are not in a part yet are written first, so that the part below holds only these results
        if !self.unwritten.is_empty() {
            self.write_part()?;
        }
        results.into_iter().for_each(|result| self.put(result));
        self.write_part()
    }

    fn put(&mut self, result: PointResult) {
        self.unwritten.push(result.point);
        self.stored.results.insert(result.point, result);
    }

    fn write_part(&mut self) -> Result<(), StoreError> {
        let path = part_path(&self.folder, self.next_part);
        let text = part::write(self.unwritten.iter().filter_map(|point| self.stored.results.get(point)));
        whole_file::replace(&path, text.as_bytes()).map_err(StoreError::io("write", &path))?;
        self.unwritten.clear();
        self.next_part += 1;
        self.written = Instant::now();
        Ok(())
    }

    /// Writes unsaved results to the disk; if no point is missing, replaces the parts by one table of all points.
    ///
    /// # Errors
    ///
    /// An error of the operating system; parts that were already written remain.
    pub fn close(mut self) -> Result<Stored, StoreError> {
        if self.stored.is_complete() && table::IS_BUILT {
            let path = points_path(&self.folder);
            let results: Vec<&PointResult> = self.stored.results.values().collect();
            let bytes = table::write(&axes(&self.stored.header), &results).map_err(io::Error::other);
            let written = bytes.and_then(|bytes| whole_file::replace(&path, &bytes));
            written.map_err(StoreError::io("write", &path))?;
            // the oldest first: if the process is killed, the remaining parts are not older than the points
            for leftover in leftovers(&self.folder)? {
                std::fs::remove_file(&leftover).map_err(StoreError::io("remove", &leftover))?;
            }
        } else if !self.unwritten.is_empty() {
            self.write_part()?;
        }
        Ok(self.stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Measured;

    fn result(point: u64) -> PointResult {
        let number = Some(Measured::between(0.1 + 0.2 * point as f64, Some(1e-300), Some(1e300)));
        PointResult {
            done_by_deadline: None,
            point,
            values: vec![Some(toml::Value::Integer(7)), None, Some(toml::Value::Float(8.0))],
            replications: 10,
            reached: 10,
            engine: "schedule".into(),
            mean_s: number.clone(),
            p50_s: number.clone(),
            p95_s: None,
            p99_s: None,
            difference_s: number,
            ratio: None,
        }
    }

    /// A sweep over three axes; the first axis has the given key.
    fn header(key: &str) -> Header {
        let axis = |key| format!("[[axis]]\nkey = '{key}'\nvalues = [1]\n");
        Header::new(Shard::WHOLE, 4, 1, 0.95, [key, "a", "b"].map(axis).concat(), String::new())
    }

    fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
            .collect();
        files.sort();
        files
    }

    #[test]
    fn a_resumed_folder_has_the_bytes_of_an_uninterrupted_one() {
        let folder = tempfile::tempdir().unwrap();
        let [whole, cut] = ["whole", "cut"].map(|name| folder.path().join(name));
        let mut store = Store::open(&whole, header("p"), false).unwrap();
        (0..4).for_each(|point| store.keep(result(point)).unwrap());
        assert!(store.close().unwrap().is_complete());
        let mut store = Store::open(&cut, header("p"), false).unwrap();
        [0, 3].into_iter().for_each(|point| store.keep(result(point)).unwrap());
        assert!(!store.close().unwrap().is_complete());
        assert_eq!(files(&cut).len(), 3, "a header and two parts");
        std::fs::write(cut.join(".tailspn-x"), "what a kill leaves behind").unwrap();
        let mut store = Store::open(&cut, header("p"), true).unwrap();
        assert_eq!(store.stored().results.get(&3), Some(&result(3)));
        [2, 1].into_iter().for_each(|point| store.keep(result(point)).unwrap());
        store.close().unwrap();
        assert_eq!(files(&whole), files(&cut));
        assert_eq!(files(&whole).len(), 2);
    }

    #[test]
    fn another_sweep_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r");
        Store::open(&path, header("p"), true).unwrap().close().unwrap();
        let told = |header, resume| Store::open(&path, header, resume).unwrap_err().to_string();
        assert!(told(header("p"), false).ends_with("already holds a sweep"));
        assert!(
            told(header("q"), true).ends_with("the plan of the sweep (from `key = 'p'` to `key = 'q'`) has changed")
        );
        let other = |change: fn(&mut Header)| {
            let mut header = header("p");
            change(&mut header);
            told(header, true)
        };
        assert!(other(|h| h.seed = 2).contains("the seed has changed"));
        assert!(other(|h| h.base = "x".into()).contains("the base plan or net (from nothing to `x`) has changed"));
        assert!(other(|h| h.version = "0".into()).contains("the version of tailspn has changed"));
        assert!(other(|h| h.shard.of = 2).contains("the shard has changed"));
        let empty = tempfile::tempdir().unwrap();
        std::fs::write(empty.path().join("x"), "").unwrap();
        assert!(Store::open(empty.path(), header("p"), true).unwrap_err().to_string().contains("it is not empty"));
    }

    /// A folder with `points` and without a checksum, or with a wrong one: `damage` changes the bytes of the first part.
    fn damaged(header: &Header, damage: impl FnOnce(&mut Vec<u8>)) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), header.clone(), false).unwrap();
        store.keep_together(vec![result(0), result(1)]).unwrap();
        store.keep_together(vec![result(2)]).unwrap();
        drop(store);
        let part = part_path(folder.path(), 1);
        let mut bytes = std::fs::read(&part).unwrap();
        damage(&mut bytes);
        std::fs::write(&part, bytes).unwrap();
        (folder, part)
    }

    #[test]
    fn damaged_parts_are_named_and_their_points_are_missing() {
        type Damage = fn(&mut Vec<u8>);
        let changed_digit: Damage = |bytes| {
            let at = bytes.iter().position(|byte| *byte == b'7').unwrap();
            bytes[at] = b'8';
        };
        let not_text: Damage = |bytes| bytes[3] = 0xff;
        let cut_in_line: Damage = |bytes| bytes.truncate(bytes.len() / 2);
        let cut_at_line: Damage = |bytes| bytes.truncate(bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1);
        let (changed, cut) =
            ("it was changed: the checksum does not match", "it is truncated: its last line is not a checksum");
        let damages = [
            (changed_digit, changed),
            (not_text, changed),
            (cut_in_line, cut),
            (cut_at_line, cut),
            (Vec::clear as Damage, cut),
        ];
        for (damage, why) in damages {
            let (folder, part) = damaged(&header("p"), damage);
            let expected = format!("`{}` is damaged: {why}", part.display());
            assert_eq!(read(folder.path()).unwrap_err().to_string(), expected);
            let store = Store::open(folder.path(), header("p"), true).unwrap();
            assert_eq!(store.damaged().iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
            assert_eq!(store.stored().results.keys().collect::<Vec<_>>(), [&2]);
            drop(store);
            assert_eq!(read(folder.path()).unwrap().results.len(), 1, "the damaged part is gone");
        }
    }

    /// A round builds on the results before it; without these results it is useless.
    #[test]
    fn damaged_part_of_a_budget_takes_the_later_parts_along() {
        let header = Header { budget: Some(Budget { replications: 60, relative_error: None }), ..header("p") };
        let (folder, _) = damaged(&header, Vec::clear);
        let store = Store::open(folder.path(), header, true).unwrap();
        assert!(store.stored().results.is_empty());
        assert_eq!(store.damaged().len(), 1);
        assert_eq!(files(folder.path()).len(), 1, "the header");
    }

    #[test]
    fn folders_of_another_format_are_refused() {
        let (folder, _) = damaged(&Header { format_version: FORMAT_VERSION + 1, ..header("p") }, |_| ());
        let error = read(folder.path()).unwrap_err().to_string();
        assert!(error.contains("it has format version 4, but this version of tailspn reads 3"), "{error}");
    }

    #[test]
    fn every_point_belongs_to_one_shard_and_the_base_to_all() {
        for of in 1..5 {
            for point in 1..20 {
                assert_eq!((1..=of).filter(|&index| has(Shard { index, of }, point)).count(), 1);
            }
            assert!((1..=of).all(|index| has(Shard { index, of }, 0)));
        }
    }

    /// Either all results of a round are stored, or none. A newer part replaces results of older parts, even if older parts remain.
    #[test]
    fn the_newest_part_counts_until_the_parts_are_gone() {
        let folder = tempfile::tempdir().unwrap();
        let budget = Some(Budget { replications: 60, relative_error: None });
        let header = || Header { budget, ..header("p") };
        let later = |point| PointResult { replications: 20, ..result(point) };
        let mut store = Store::open(folder.path(), header(), false).unwrap();
        (0..4).for_each(|point| store.keep(result(point)).unwrap());
        store.keep_together(vec![later(0), later(2)]).unwrap();
        let before = files(folder.path());
        // as a kill would leave it
        drop(store);
        let store = Store::open(folder.path(), header(), true).unwrap();
        let counts: Vec<u64> = store.stored().results.values().map(|result| result.replications).collect();
        assert_eq!(counts, [20, 10, 20, 10]);
        // the budget is used up
        assert!(store.stored().is_complete());
        store.close().unwrap();
        let after = files(folder.path());
        assert_eq!(after.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["points.parquet", "sweep.json"]);
        // a process that is killed while it removes parts leaves the newest parts
        let newest = before.iter().rfind(|(name, _)| name.starts_with("part")).unwrap();
        std::fs::write(folder.path().join(&newest.0), &newest.1).unwrap();
        Store::open(folder.path(), header(), true).unwrap().close().unwrap();
        assert_eq!(files(folder.path()), after);
    }
}
