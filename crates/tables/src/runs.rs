//! The runs of a table by setting: the other columns, the size of the input, the number of machines.

use std::collections::BTreeMap;

use tailspn_common::order::median;

use crate::roles::{Chosen, Roles, RolesError};
use crate::table::Table;

/// A table of runs, by setting.
#[derive(Clone, Debug)]
pub struct RunTable {
    /// The names of all columns.
    pub names: Vec<String>,
    /// The meaning of the columns.
    pub roles: Roles,
    /// The runs by the values of the other columns, in the order of the text.
    pub groups: Vec<Group>,
    /// Rows that have an empty cell in a column that is used.
    pub incomplete: usize,
}

/// Position of a cell: size and number of machines, in the lists of its group.
pub(crate) type At = (usize, usize);

/// Runs with the same values in the other columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// The value of each other column.
    pub kinds: Vec<String>,
    /// The sizes, ascending; a single 1 if the table has no sizes.
    pub sizes: Vec<f64>,
    /// The numbers of machines, ascending; a single 1 if the table has none.
    pub machines: Vec<f64>,
    /// Logarithms of the times \[s\] of each setting.
    pub(crate) cells: BTreeMap<At, Vec<f64>>,
    /// Position of the size, and the median logarithm, of each setting on each number of machines, ascending.
    pub(crate) by_count: Vec<Vec<(usize, f64)>>,
}

impl RunTable {
    /// Returns the runs of a table.
    ///
    /// # Errors
    ///
    /// The errors of [`Table::roles`].
    pub fn new(table: &Table, chosen: &Chosen) -> Result<Self, RolesError> {
        let roles = table.roles(chosen)?;
        let used: Vec<usize> = [Some(roles.time), roles.machines, roles.size]
            .into_iter()
            .flatten()
            .chain(roles.kinds.iter().copied())
            .collect();
        let number = |column: Option<usize>, row: usize| {
            column.and_then(|column| Some(table.columns[column].numbers()?[row])).unwrap_or(1.0)
        };
        let mut rows: BTreeMap<Vec<String>, (usize, Vec<[f64; 3]>)> = BTreeMap::new();
        let mut incomplete = 0;
        for row in 0..table.rows() {
            if used.iter().any(|&column| table.columns[column].is_empty(row)) {
                incomplete += 1;
                continue;
            }
            let kinds = roles.kinds.iter().map(|&column| table.columns[column].text(row)).collect();
            let time_s = number(Some(roles.time), row) * roles.time_s;
            let run = [number(roles.size, row), number(roles.machines, row), time_s.ln()];
            rows.entry(kinds).or_insert_with(|| (row, Vec::new())).1.push(run);
        }
        let mut groups: Vec<(usize, Group)> =
            rows.into_iter().map(|(kinds, (first, runs))| (first, Group::of(kinds, &runs))).collect();
        groups.sort_by_key(|(first, _)| *first);
        let groups = groups.into_iter().map(|(_, group)| group).collect();
        Ok(Self { names: table.names.clone(), roles, groups, incomplete })
    }

    /// Returns the number of runs.
    pub fn runs(&self) -> usize {
        self.groups.iter().map(Group::runs).sum()
    }

    /// Returns the number of settings.
    pub fn settings(&self) -> usize {
        self.groups.iter().map(|group| group.cells.len()).sum()
    }

    /// Returns the logarithm of each run's time divided by the median of the other runs of its setting, scaled to the spread around a known median.
    pub(crate) fn noise(&self) -> Vec<f64> {
        let of_cell = |runs: &Vec<f64>| {
            let mut sorted = runs.clone();
            sorted.sort_by(f64::total_cmp);
            // the median of the others has an error of its own
            let scale = (1.0 + 1.0 / (sorted.len().max(2) - 1) as f64).sqrt().recip();
            (0..sorted.len())
                .filter_map(|own| Some(scale * (sorted[own] - median_without(&sorted, own)?)))
                .collect::<Vec<_>>()
        };
        self.groups.iter().flat_map(|group| group.cells.values()).flat_map(of_cell).collect()
    }
}

/// Returns the position of a value in an ascending list.
pub(crate) fn place_of(values: &[f64], value: f64) -> Option<usize> {
    values.binary_search_by(|own| own.total_cmp(&value)).ok()
}

/// Returns the median of ascending numbers without one of them.
fn median_without(sorted: &[f64], own: usize) -> Option<f64> {
    let at = |place: usize| sorted[place + usize::from(place >= own)];
    let last = sorted.len().checked_sub(2)?;
    Some(f64::midpoint(at(last / 2), at(last.div_ceil(2))))
}

impl Group {
    fn of(kinds: Vec<String>, runs: &[[f64; 3]]) -> Self {
        let values = |place: usize| {
            let mut values: Vec<f64> = runs.iter().map(|run| run[place]).collect();
            values.sort_by(f64::total_cmp);
            values.dedup();
            values
        };
        let (sizes, machines) = (values(0), values(1));
        let mut cells: BTreeMap<At, Vec<f64>> = BTreeMap::new();
        for &[size, count, time] in runs {
            let place = |values: &[f64], value: f64| values.partition_point(|other| *other < value);
            cells.entry((place(&sizes, size), place(&machines, count))).or_default().push(time);
        }
        let mut by_count = vec![Vec::new(); machines.len()];
        for (&(size, count), runs) in &cells {
            by_count[count].extend(median(runs.iter().copied()).map(|log| (size, log)));
        }
        Self { kinds, sizes, machines, cells, by_count }
    }

    /// Returns the number of runs.
    pub fn runs(&self) -> usize {
        self.cells.values().map(Vec::len).sum()
    }

    /// Returns the number of runs of a setting.
    pub fn runs_at(&self, size: f64, machines: f64) -> usize {
        self.cell(size, machines).map_or(0, Vec::len)
    }

    /// Returns the times of a setting \[s\].
    pub fn times_at(&self, size: f64, machines: f64) -> Vec<f64> {
        self.cell(size, machines).map_or_else(Vec::new, |runs| runs.iter().map(|run| run.exp()).collect())
    }

    /// Returns the runs of a setting.
    fn cell(&self, size: f64, machines: f64) -> Option<&Vec<f64>> {
        self.cells.get(&(place_of(&self.sizes, size)?, place_of(&self.machines, machines)?))
    }

    /// Returns the median logarithm of the time of a setting.
    pub(crate) fn median_at(&self, (size, count): At) -> Option<f64> {
        let own = self.by_count.get(count)?;
        own.binary_search_by_key(&size, |(size, _)| *size).ok().map(|place| own[place].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_the_others_needs_no_copy() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        for own in 0..4 {
            let others = sorted.iter().enumerate().filter(|(place, _)| *place != own).map(|(_, value)| *value);
            assert_eq!(median_without(&sorted, own), median(others));
        }
        assert_eq!((median_without(&[3.0], 0), median_without(&[3.0, 5.0], 0)), (None, Some(5.0)));
    }
}
