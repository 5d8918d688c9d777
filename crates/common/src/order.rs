//! Order statistics: quantiles and medians of numbers.

/// Returns the position of the `q` quantile among `n` sorted samples: an index from 0, and the fraction of the distance to the
/// next sample. None without samples or unless 0 <= `q` <= 1.
///
/// Linear between order statistics, at position q (n − 1): definition 7 of \[Hyndman1996\], the default of R and NumPy.
pub fn position(n: u64, q: f64) -> Option<(u64, f64)> {
    let last = n.checked_sub(1).filter(|_| (0.0..=1.0).contains(&q))?;
    let place = q * last as f64;
    let index = (place.floor() as u64).min(last);
    Some((index, if index == last { 0.0 } else { place - place.floor() }))
}

/// Returns the `q` quantile of ascending numbers, at [`position`]; `q` outside [0, 1] counts as 0 or 1. None without numbers.
///
/// ```
/// # use tailspn_common::order::quantile;
/// assert_eq!(quantile(&[1.0, 2.0, 4.0, 8.0], 0.5), Some(3.0));
/// assert_eq!(quantile(&[1.0, 2.0, 4.0, 8.0], 0.75), Some(5.0));
/// assert_eq!(quantile(&[], 0.5), None);
/// ```
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    debug_assert!(sorted.is_sorted(), "samples must be ascending");
    let (index, share) = position(sorted.len() as u64, q.clamp(0.0, 1.0))?;
    let at = |rank: u64| sorted[rank as usize];
    let low = at(index);
    Some(if share > 0.0 { low + share * (at(index + 1) - low) } else { low })
}

/// Returns the median: the middle number, or the mean of the two middle numbers, rounded once. None without numbers.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(f64::midpoint(values[last / 2], values[last.div_ceil(2)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_medians_of_few_numbers() {
        assert_eq!(median([]), None);
        assert_eq!(median([3.0]), Some(3.0));
        assert_eq!(median([9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([9.0, 1.0, 2.0, 4.0]), Some(3.0));
        assert_eq!([0.0, 1.0, 7.0].map(|q| quantile(&[1.0, 5.0], q)), [Some(1.0), Some(5.0), Some(5.0)]);
        assert_eq!((position(0, 0.5), position(3, 1.5), position(3, f64::NAN)), (None, None, None));
        assert_eq!((position(5, 0.3), position(5, 1.0)), (Some((1, 0.19999999999999996)), Some((4, 0.0))));
    }
}
