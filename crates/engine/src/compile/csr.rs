//! Rows of different lengths in one flat array.

/// Compressed rows: row `i` is a slice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr<T> {
    offsets: Vec<u32>,
    items: Vec<T>,
}

impl Csr<u32> {
    /// Per number below `columns`: the rows that contain it, ascending.
    pub(crate) fn transposed(&self, columns: usize) -> Self {
        let mut offsets = vec![0_u32; columns + 1];
        for &column in &self.items {
            offsets[column as usize + 1] += 1;
        }
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        let mut next = offsets.clone();
        let mut items = vec![0; self.items.len()];
        for (row, i) in (0..).zip(0..self.rows()) {
            for &column in self.row(i) {
                let at = &mut next[column as usize];
                items[*at as usize] = row;
                *at += 1;
            }
        }
        Self { offsets, items }
    }
}

impl<T> Csr<T> {
    /// Rows from an iterator of rows.
    pub fn from_rows<R: IntoIterator<Item = T>>(rows: impl IntoIterator<Item = R>) -> Self {
        let mut csr = Self::empty();
        rows.into_iter().for_each(|row| csr.push(row));
        csr
    }

    /// No rows.
    pub(super) fn empty() -> Self {
        Self { offsets: vec![0], items: Vec::new() }
    }

    /// Appends a row.
    pub(super) fn push(&mut self, row: impl IntoIterator<Item = T>) {
        self.items.extend(row);
        self.offsets.push(u32::try_from(self.items.len()).expect("a net has fewer than 2^32 arcs"));
    }

    /// Creates rows of `items`; `offsets` has the start of each row, and the end of the last row.
    pub fn from_parts(offsets: Vec<u32>, items: Vec<T>) -> Self {
        debug_assert_eq!(offsets.last().map(|&end| end as usize), Some(items.len()));
        Self { offsets, items }
    }

    /// All rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        (0..self.rows()).map(|i| self.row(i))
    }

    /// Row `i`.
    #[inline(always)]
    pub fn row(&self, i: usize) -> &[T] {
        &self.items[self.offsets[i] as usize..self.offsets[i + 1] as usize]
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// All items, row after row.
    pub fn items(&self) -> &[T] {
        &self.items
    }

    /// Start of each row, and the end of the last.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }
}
