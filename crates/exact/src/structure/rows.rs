//! Sparse integer rows that are combined until columns vanish: the tableau behind semiflows and bases.

use std::collections::BTreeSet;

use crate::structure::incidence::number;

/// Non-zero entries by ascending index.
pub(super) type Sparse = Vec<(u32, i128)>;

/// A combination of the original rows, with its entries in the remaining columns.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Entries in the columns that are not yet eliminated.
    pub(super) rest: Sparse,
    /// Coefficient of each original row.
    pub(super) own: Sparse,
    /// The original row that indexes this row.
    bucket: u32,
}

impl Row {
    /// The original row `index` with these entries.
    pub(super) fn unit(index: u32, rest: Sparse) -> Self {
        Self { rest, own: vec![(index, 1)], bucket: index }
    }

    /// The entry in a column.
    pub(super) fn entry(&self, column: u32) -> i128 {
        self.rest.binary_search_by_key(&column, |&(c, _)| c).map_or(0, |at| self.rest[at].1)
    }
}

/// `fa * a + fb * b` without common divisors; none if a number does not fit.
pub(super) fn combine(a: &Row, fa: i128, b: &Row, fb: i128) -> Option<Row> {
    let mut rest = added(&a.rest, fa, &b.rest, fb)?;
    let mut own = added(&a.own, fa, &b.own, fb)?;
    let mut divisor = 0;
    for &(_, value) in own.iter().chain(&rest) {
        divisor = gcd(divisor, value);
        if divisor == 1 {
            break;
        }
    }
    if divisor > 1 {
        rest.iter_mut().chain(&mut own).for_each(|(_, value)| *value /= divisor);
    }
    Some(Row { rest, own, bucket: 0 })
}

fn added(a: &Sparse, fa: i128, b: &Sparse, fb: i128) -> Option<Sparse> {
    let mut sum = Vec::with_capacity(a.len() + b.len());
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    loop {
        let (index, value) = match (a.peek(), b.peek()) {
            (None, None) => return Some(sum),
            (Some(&&(i, x)), None) => (i, (x.checked_mul(fa)?, a.next()).0),
            (None, Some(&&(j, y))) => (j, (y.checked_mul(fb)?, b.next()).0),
            (Some(&&(i, x)), Some(&&(j, y))) => match i.cmp(&j) {
                std::cmp::Ordering::Less => (i, (x.checked_mul(fa)?, a.next()).0),
                std::cmp::Ordering::Greater => (j, (y.checked_mul(fb)?, b.next()).0),
                std::cmp::Ordering::Equal => {
                    a.next();
                    b.next();
                    (i, x.checked_mul(fa)?.checked_add(y.checked_mul(fb)?)?)
                }
            },
        };
        if value != 0 {
            sum.push((index, value));
        }
    }
}

/// The greatest common divisor, not negative; for 0 and `x` it is `|x|`.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).unwrap_or(1)
}

/// Order in which columns are eliminated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// The column whose pairs of opposite signs add the fewest rows.
    Pairs,
    /// The column with the fewest entries.
    Entries,
}

/// Rows, with the columns that still have entries.
#[derive(Debug)]
pub(super) struct Tableau {
    rows: Vec<Option<Row>>,
    alive: usize,
    /// Per column: rows that had an entry when they were added; some were removed.
    members: Vec<Vec<u32>>,
    /// Per column: numbers of positive and negative entries.
    signs: Vec<[i64; 2]>,
    order: Order,
    /// Columns with entries, by cost.
    queue: BTreeSet<(i64, u32)>,
    /// Rows, indexed by one original row in their support. The choice of this original row keeps the number of rows
    /// with the same index low.
    buckets: Vec<Vec<u32>>,
}

impl Tableau {
    /// Creates a tableau of the original rows, each under its own index below `originals`.
    pub(super) fn new(rows: impl IntoIterator<Item = Row>, originals: usize, columns: usize, order: Order) -> Self {
        let mut tableau = Self {
            rows: Vec::new(),
            alive: 0,
            members: vec![Vec::new(); columns],
            signs: vec![[0; 2]; columns],
            order,
            queue: BTreeSet::new(),
            buckets: vec![Vec::new(); originals],
        };
        rows.into_iter().for_each(|row| tableau.insert(row));
        tableau
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.alive
    }

    /// An existing row.
    pub(super) fn row(&self, id: u32) -> Option<&Row> {
        self.rows[id as usize].as_ref()
    }

    /// The rows, in the order in which they were added.
    pub(super) fn into_rows(self) -> impl Iterator<Item = Row> {
        self.rows.into_iter().flatten()
    }

    /// The next column to eliminate.
    pub(super) fn next_column(&self) -> Option<u32> {
        self.queue.first().map(|&(_, column)| column)
    }

    /// Rows with an entry in a column, in the order in which they were added.
    pub(super) fn members(&self, column: u32) -> Vec<u32> {
        self.members[column as usize].iter().copied().filter(|&id| self.row(id).is_some()).collect()
    }

    /// Rows whose index is the given original row.
    pub(super) fn bucket(&self, original: u32) -> &[u32] {
        &self.buckets[original as usize]
    }

    fn cost(&self, column: u32) -> i64 {
        let [positive, negative] = self.signs[column as usize];
        match self.order {
            Order::Pairs => positive.saturating_mul(negative) - positive - negative,
            Order::Entries => positive + negative,
        }
    }

    fn count(&mut self, column: u32, value: i128, by: i64) {
        self.queue.remove(&(self.cost(column), column));
        let signs = &mut self.signs[column as usize];
        signs[usize::from(value < 0)] += by;
        if *signs != [0, 0] {
            self.queue.insert((self.cost(column), column));
        }
    }

    /// Adds a row.
    pub(super) fn insert(&mut self, mut row: Row) {
        let id = number(self.rows.len());
        for &(column, value) in &row.rest {
            self.members[column as usize].push(id);
            self.count(column, value, 1);
        }
        let rarest = row.own.iter().map(|&(o, _)| o).min_by_key(|&o| self.buckets[o as usize].len());
        row.bucket = rarest.unwrap_or(0);
        self.buckets[row.bucket as usize].push(id);
        self.rows.push(Some(row));
        self.alive += 1;
    }

    /// Removes a row.
    pub(super) fn remove(&mut self, id: u32) -> Option<Row> {
        let row = self.rows[id as usize].take()?;
        for &(column, value) in &row.rest {
            self.count(column, value, -1);
        }
        let bucket = &mut self.buckets[row.bucket as usize];
        if let Some(at) = bucket.iter().position(|&other| other == id) {
            bucket.swap_remove(at);
        }
        self.alive -= 1;
        Some(row)
    }
}
