//! The time over the size of the input, from the medians at several sizes.
//!
//! Between two measured sizes, log T is straight in the logarithm of the size. Beyond them, it is the mean of that line through the two nearest sizes and of
//! T = a + b size through the nearest four.

use tailspn_common::least_squares::not_negative;

use crate::curve::Guess;

/// Points for the fit beyond the measured sizes.
pub(crate) const NEAREST: usize = 4;

/// Returns the prediction at a size from points of sizes and logarithms of times, ascending; none without two sizes.
pub(crate) fn at_size(points: &[[f64; 2]], size: f64) -> Option<Guess> {
    let last = points.len().checked_sub(1).filter(|last| *last > 0)?;
    let line = |a: [f64; 2], b: [f64; 2]| a[1] + (b[1] - a[1]) * (size / a[0]).ln() / (b[0] / a[0]).ln();
    let right = points.partition_point(|point| point[0] < size);
    if (1..=last).contains(&right) {
        let (a, b) = (points[right - 1], points[right]);
        return Some(Guess { log: line(a, b), unit: 0.02 + 0.05 * (b[0] / a[0]).ln(), is_inside: true });
    }
    let (pair, nearest, distance) = if right == 0 {
        ([points[0], points[1]], &points[..points.len().min(NEAREST)], (points[0][0] / size).ln())
    } else {
        (
            [points[last - 1], points[last]],
            &points[points.len().saturating_sub(NEAREST)..],
            (size / points[last][0]).ln(),
        )
    };
    let straight = line(pair[0], pair[1]);
    let row = |&[size, log]: &[f64; 2]| (vec![(-log).exp(), size * (-log).exp()], 1.0);
    let parts = not_negative(&nearest.iter().map(row).collect::<Vec<_>>());
    let sum = parts.map(|parts| parts[0] + parts[1] * size).filter(|sum| *sum > 0.0);
    let other = sum.map_or(straight, f64::ln);
    let unit = 0.03 + 0.05 * distance + (straight - other).abs();
    Some(Guess { log: 0.5 * (straight + other), unit, is_inside: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_proportion_to_a_part_of_the_data_are_followed() {
        let time = |size: f64| 20.0 + 3.0 * size;
        let points = [10.0, 20.0, 40.0].map(|size| [size, time(size).ln()]);
        for size in [15.0, 30.0, 60.0, 8.0] {
            let found = at_size(&points, size).unwrap().log.exp();
            assert!((found / time(size) - 1.0).abs() < 0.03, "{size}: {found} {}", time(size));
        }
        let units = [30.0, 50.0, 400.0].map(|size| at_size(&points, size).unwrap().unit);
        assert!(units.is_sorted(), "{units:?}");
        assert!(at_size(&points[..1], 5.0).is_none());
        assert_eq!(at_size(&points, 20.0).unwrap().log, time(20.0).ln());
    }
}
