//! Rates between numbered states, by state: 6 bytes each if there are few distinct values, otherwise 12.

use hashbrown::HashTable;

/// Largest number of distinct values for which rates are stored as codes of 16 bits.
const MOST_VALUES: usize = 1 << 16;

/// The values of the rates.
#[derive(Clone, Debug)]
enum Values {
    /// Positions in a table of the distinct values, in the order in which they first occur.
    Coded {
        codes: Vec<u16>,
        table: Vec<f64>,
    },
    Plain(Vec<f64>),
}

/// Rates between numbered states: row `i` has the rates \[1/s\] that leave state `i`, each with the state that it enters.
///
/// The values are stored exactly. A net has few distinct rates even if it has many states, so a rate typically takes 6 bytes.
#[derive(Clone, Debug)]
pub struct Rates {
    /// Start of each row, and the end of the last.
    offsets: Vec<u32>,
    states: Vec<u32>,
    values: Values,
}

impl Rates {
    /// Creates rates from an iterator of rows.
    ///
    /// # Examples
    ///
    /// ```
    /// use tailspn_exact::solve::Rates;
    ///
    /// let rates = Rates::from_rows([vec![(1, 2.0), (2, 0.5)], vec![(0, 2.0)], vec![]]);
    /// assert_eq!((rates.rows(), rates.count()), (3, 3));
    /// assert!(rates.row(0).eq([(1, 2.0), (2, 0.5)]));
    /// ```
    pub fn from_rows<R: IntoIterator<Item = (u32, f64)>>(rows: impl IntoIterator<Item = R>) -> Self {
        let mut builder = RatesBuilder::new();
        for row in rows {
            builder.push(row);
        }
        builder.finish()
    }

    /// Returns the number of rows, one per state.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the number of rates.
    pub fn count(&self) -> usize {
        self.states.len()
    }

    /// Returns the number of bytes in use.
    pub fn bytes(&self) -> u64 {
        let values = match &self.values {
            Values::Coded { codes, table } => size_of_val(&codes[..]) + size_of_val(&table[..]),
            Values::Plain(values) => size_of_val(&values[..]),
        };
        (size_of_val(&self.offsets[..]) + size_of_val(&self.states[..]) + values) as u64
    }

    /// Returns the rates of a row, each with its other state.
    #[inline(always)]
    pub fn row(&self, row: usize) -> RateRow<'_> {
        let range = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        let values = match &self.values {
            Values::Coded { codes, table } => RowValues::Coded(codes[range.clone()].iter(), table),
            Values::Plain(values) => RowValues::Plain(values[range.clone()].iter()),
        };
        RateRow { states: self.states[range].iter(), values }
    }

    /// Returns the other states of a row.
    #[inline(always)]
    pub(crate) fn states(&self, row: usize) -> &[u32] {
        &self.states[self.offsets[row] as usize..self.offsets[row + 1] as usize]
    }

    /// Returns the rate at a position in a row, with its other state.
    #[inline(always)]
    pub(crate) fn entry(&self, row: usize, position: usize) -> (u32, f64) {
        let at = self.offsets[row] as usize + position;
        let value = match &self.values {
            Values::Coded { codes, table } => table[usize::from(codes[at])],
            Values::Plain(values) => values[at],
        };
        (self.states[at], value)
    }

    /// Returns the sum of `values` over the states of a row, each multiplied by its rate.
    #[inline(always)]
    pub(crate) fn flow(&self, row: usize, values: &[f64]) -> f64 {
        self.row(row).map(|(state, rate)| values[state as usize] * rate).sum()
    }

    /// Returns the same rates by the state that they enter: row `i` has the predecessors of state `i`, in ascending order.
    pub(crate) fn transposed(&self) -> Self {
        let mut offsets = vec![0_u32; self.rows() + 1];
        for &to in &self.states {
            offsets[to as usize + 1] += 1;
        }
        for i in 1..offsets.len() {
            offsets[i] += offsets[i - 1];
        }
        let states = self.arranged(&offsets, |from, _| u32::try_from(from).expect("states are numbered in 32 bits"));
        let values = match &self.values {
            Values::Coded { codes, table } => {
                Values::Coded { codes: self.arranged(&offsets, |_, at| codes[at]), table: table.clone() }
            }
            Values::Plain(values) => Values::Plain(self.arranged(&offsets, |_, at| values[at])),
        };
        Self { offsets, states, values }
    }

    /// Returns `value(row, position)` of each rate in the order of a transposed matrix, whose rows start at `offsets`.
    fn arranged<T: Clone + Default>(&self, offsets: &[u32], value: impl Fn(usize, usize) -> T) -> Vec<T> {
        let mut next = offsets.to_vec();
        let mut arranged = vec![T::default(); self.count()];
        for row in 0..self.rows() {
            for at in self.offsets[row] as usize..self.offsets[row + 1] as usize {
                let place = &mut next[self.states[at] as usize];
                arranged[*place as usize] = value(row, at);
                *place += 1;
            }
        }
        arranged
    }
}

impl PartialEq for Rates {
    fn eq(&self, other: &Self) -> bool {
        self.offsets == other.offsets && (0..self.rows()).all(|row| self.row(row).eq(other.row(row)))
    }
}

/// The rates of a row of [`Rates`]: pairs of the other state and the rate \[1/s\].
#[derive(Clone, Debug)]
pub struct RateRow<'a> {
    states: std::slice::Iter<'a, u32>,
    values: RowValues<'a>,
}

#[derive(Clone, Debug)]
enum RowValues<'a> {
    Coded(std::slice::Iter<'a, u16>, &'a [f64]),
    Plain(std::slice::Iter<'a, f64>),
}

impl Iterator for RateRow<'_> {
    type Item = (u32, f64);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let state = *self.states.next()?;
        let value = match &mut self.values {
            RowValues::Coded(codes, table) => table[usize::from(*codes.next()?)],
            RowValues::Plain(values) => *values.next()?,
        };
        Some((state, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.states.size_hint()
    }

    /// Decides once per row how the values are stored.
    #[inline(always)]
    fn fold<B, F: FnMut(B, Self::Item) -> B>(self, start: B, mut f: F) -> B {
        match self.values {
            RowValues::Coded(codes, table) => {
                self.states.zip(codes).fold(start, |sum, (&state, &code)| f(sum, (state, table[usize::from(code)])))
            }
            RowValues::Plain(values) => {
                self.states.zip(values).fold(start, |sum, (&state, &value)| f(sum, (state, value)))
            }
        }
    }
}

impl ExactSizeIterator for RateRow<'_> {}

/// Collects [`Rates`] row by row.
#[derive(Debug)]
pub(crate) struct RatesBuilder {
    rates: Rates,
    /// Positions in the table of distinct values, by value.
    known: HashTable<u16>,
}

impl RatesBuilder {
    pub(crate) fn new() -> Self {
        let values = Values::Coded { codes: Vec::new(), table: Vec::new() };
        Self { rates: Rates { offsets: vec![0], states: Vec::new(), values }, known: HashTable::new() }
    }

    /// Returns the rates of the rows so far.
    pub(crate) fn rates(&self) -> &Rates {
        &self.rates
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = (u32, f64)>) {
        for (state, rate) in row {
            self.rates.states.push(state);
            self.push_value(rate);
        }
        self.rates.offsets.push(u32::try_from(self.rates.count()).expect("a chain has fewer than 2^32 rates"));
    }

    fn push_value(&mut self, rate: f64) {
        let (codes, table) = match &mut self.rates.values {
            Values::Coded { codes, table } => (codes, table),
            Values::Plain(values) => return values.push(rate),
        };
        let is_same = |&code: &u16| table[usize::from(code)].to_bits() == rate.to_bits();
        if let Some(&code) = self.known.find(hash(rate), is_same) {
            codes.push(code);
        } else if table.len() < MOST_VALUES {
            let code = table.len() as u16;
            table.push(rate);
            codes.push(code);
            self.known.insert_unique(hash(rate), code, |&code| hash(table[usize::from(code)]));
        } else {
            let mut values: Vec<f64> = codes.iter().map(|&code| table[usize::from(code)]).collect();
            values.push(rate);
            self.rates.values = Values::Plain(values);
            self.known = HashTable::new();
        }
    }

    /// Returns the rates.
    pub(crate) fn finish(self) -> Rates {
        self.rates
    }
}

/// Returns a hash whose low and high bits depend on all bits of the value.
fn hash(value: f64) -> u64 {
    let product = u128::from(value.to_bits()) * 0x9e37_79b9_7f4a_7c15;
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::chain::tests::random_chain;

    /// The same rates without codes.
    fn plain(rates: &Rates) -> Rates {
        let values = (0..rates.rows()).flat_map(|row| rates.row(row).map(|(_, rate)| rate)).collect();
        Rates { values: Values::Plain(values), ..rates.clone() }
    }

    #[test]
    fn incoming_rates_are_the_transpose() {
        let chain = random_chain(50, 4, 3.0, 1);
        let values: Vec<f64> = (0..50).map(f64::from).collect();
        for rates in [&chain.rates, &plain(&chain.rates)] {
            let incoming = rates.transposed();
            for state in 0..50_u32 {
                let row = |from: u32| chain.rates.row(from as usize).find(|(to, _)| *to == state);
                let sum: f64 = (0..50).filter_map(|from| row(from).map(|(_, rate)| f64::from(from) * rate)).sum();
                assert!((incoming.flow(state as usize, &values) - sum).abs() <= 1e-12 * sum);
                assert!(incoming.states(state as usize).is_sorted());
            }
        }
    }

    /// Both forms give the same bits, because the order of the terms is the same.
    #[test]
    fn codes_do_not_change_any_number() {
        let row = |i: u32| [1.0, 0.1, 1.0 / 3.0].map(|rate| ((i * 7 + (rate * 30.0) as u32) % 1_000, rate));
        let coded = Rates::from_rows((0..1_000).map(row));
        let plain = plain(&coded);
        assert!(matches!(&coded.values, Values::Coded { table, .. } if *table == [1.0, 0.1, 1.0 / 3.0]));
        assert!(coded.bytes() < plain.bytes() && coded == plain && coded.transposed() == plain.transposed());
        let values: Vec<f64> = (0..1_000).map(|i| 1.0 / (1.0 + f64::from(i))).collect();
        for state in 0..1_000 {
            let flows = [&coded, &plain].map(|rates| rates.transposed().flow(state, &values).to_bits());
            assert_eq!(flows[0], flows[1]);
            assert!((0..coded.row(state).len()).all(|k| coded.row(state).nth(k) == Some(coded.entry(state, k))));
        }
    }

    #[test]
    fn many_distinct_values_are_stored_as_they_are() {
        let rates = Rates::from_rows((0..100_000_u32).map(|i| [(i / 2, 1.0 / f64::from(1 + i)), (i, 0.5)]));
        assert!(matches!(rates.values, Values::Plain(_)) && rates.count() == 200_000);
        for i in 0..100_000 {
            assert!(rates.row(i as usize).eq([(i / 2, 1.0 / f64::from(1 + i)), (i, 0.5)]));
        }
    }
}
