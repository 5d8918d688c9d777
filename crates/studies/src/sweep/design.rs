//! Designs of sweeps: from axes to numbered lists of values.
//!
//! Implements the designs. The points and their order depend only on the plan. The plan's seed determines the draws of a Latin
//! hypercube and the shift of a Sobol sequence. Constraints are checked [later](crate::sweep::constraint).

use toml::Value;

use crate::rng::{Address, Purpose, split};
use crate::sweep::plan::{Axis, Design, STEPS, Scale, SweepPlan};
use crate::sweep::point::Point;
use crate::sweep::sobol::Sobol;

/// Returns all points of a valid plan in the order of their numbers: the base, then the design's points. In a grid, the last axis varies
/// fastest.
pub fn points(plan: &SweepPlan) -> Vec<Point> {
    let axes = plan.axis.len();
    let rows = match plan.sweep.design {
        Design::Grid => grid(&plan.axis),
        Design::Each => each(&plan.axis),
        Design::List => list(&plan.axis),
        Design::Latin => latin(&plan.axis, plan.sweep.points, plan.sweep.seed),
        Design::Sobol => sobol(&plan.axis, plan.sweep.points, plan.sweep.seed),
    };
    let design = (1..).zip(rows).map(|(number, values)| Point { number, values });
    std::iter::once(Point::base(axes)).chain(design).collect()
}

type Row = Vec<Option<Value>>;

fn grid(axes: &[Axis]) -> Vec<Row> {
    axes.iter().fold(vec![Vec::new()], |rows, axis| {
        let levels = axis.levels();
        let longer = |row: &Row, level: &Value| row.iter().cloned().chain([Some(level.clone())]).collect();
        rows.iter().flat_map(|row| levels.iter().map(move |level| longer(row, level))).collect()
    })
}

fn each(axes: &[Axis]) -> Vec<Row> {
    let rows = axes.iter().enumerate().flat_map(|(i, axis)| {
        axis.levels().into_iter().map(move |level| {
            let mut row = vec![None; axes.len()];
            row[i] = Some(level);
            row
        })
    });
    rows.collect()
}

fn list(axes: &[Axis]) -> Vec<Row> {
    let columns: Vec<_> = axes.iter().map(Axis::levels).collect();
    let points = columns.iter().map(Vec::len).min().unwrap_or(0);
    (0..points).map(|i| columns.iter().map(|column| column.get(i).cloned()).collect()).collect()
}

/// Returns a Latin hypercube \[McKay1979\]: each axis is divided into n equal parts for n points, and point i has a uniform coordinate in
/// part π(i), with a random permutation π for each axis.
fn latin(axes: &[Axis], points: u64, seed: u64) -> Vec<Row> {
    let count = u32::try_from(points).unwrap_or(u32::MAX);
    let places: Vec<Vec<f64>> = (0..).zip(axes).map(|(owner, _)| latin_places(owner, count, seed)).collect();
    let row = |i: usize| axes.iter().zip(&places).map(|(axis, places)| places.get(i).map(|&u| axis.at(u))).collect();
    (0..count as usize).map(row).collect()
}

/// Returns the first points of a Sobol sequence with a digital shift.
fn sobol(axes: &[Axis], points: u64, seed: u64) -> Vec<Row> {
    // a valid plan has at most as many axes as the sequence has coordinates
    let Some(sequence) = Sobol::shifted(axes.len(), seed) else { return Vec::new() };
    let row = |i: u32| axes.iter().enumerate().map(|(which, axis)| Some(axis.at(sequence.place(which, i)))).collect();
    (0..u32::try_from(points).unwrap_or(u32::MAX)).map(row).collect()
}

/// Returns coordinates in [0, 1), one in each of `count` equal parts, in random order.
fn latin_places(owner: u32, count: u32, seed: u64) -> Vec<f64> {
    let word = |sample: u32, which: usize| {
        let address = Address { purpose: Purpose::Design, owner, sample };
        address.words(split(seed), 0)[which]
    };
    let mut parts: Vec<u32> = (0..count).collect();
    // Fisher-Yates shuffle; the high part of a product maps a word to a range, with a bias below count / 2^32
    for i in (1..count).rev() {
        let j = (u64::from(word(i, 0)) * (u64::from(i) + 1)) >> 32;
        parts.swap(i as usize, j as usize);
    }
    let place = |(i, part): (u32, u32)| (f64::from(part) + f64::from(word(i, 1)) / 4_294_967_296.0) / f64::from(count);
    (0..).zip(parts).map(place).collect()
}

impl Point {
    /// Returns the settings that the point changes, such as `job.reduces = 20`; none if it changes nothing.
    pub fn words(&self, axes: &[Axis]) -> Option<String> {
        let word = |(axis, value): (&Axis, &Option<Value>)| Some(format!("{} = {}", axis.key, value.as_ref()?));
        let words: Vec<String> = axes.iter().zip(&self.values).filter_map(word).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

impl Axis {
    /// Returns the values of the axis, in order.
    pub fn levels(&self) -> Vec<Value> {
        if let Some(values) = &self.values {
            return of_one_kind(values);
        }
        let steps = self.steps.unwrap_or(STEPS).max(2);
        let mut levels: Vec<Value> = (0..steps).map(|i| self.inside(i as f64 / (steps - 1) as f64)).collect();
        // rounding may give the same whole number twice
        levels.dedup();
        levels
    }

    /// Returns the value at coordinate `u`, 0 <= u < 1; listed values have equal shares of the range of `u`.
    pub fn at(&self, u: f64) -> Value {
        match &self.values {
            Some(values) => {
                let values = of_one_kind(values);
                values[((u * values.len() as f64) as usize).min(values.len() - 1)].clone()
            }
            None => self.inside(u),
        }
    }

    /// Returns the value at the fraction `u` of the distance between the ends, 0 <= u <= 1.
    fn inside(&self, u: f64) -> Value {
        let (from, to) = (self.from.unwrap_or(0.0), self.to.unwrap_or(0.0));
        let value = match self.scale {
            _ if u <= 0.0 => from,
            _ if u >= 1.0 => to,
            Scale::Linear => from + (to - from) * u,
            // functions of `libm` return the same bits on every machine
            Scale::Log => libm::exp(libm::log(from) * (1.0 - u) + libm::log(to) * u),
        };
        if self.whole == Some(true) { Value::Integer(value.round() as i64) } else { Value::Float(value) }
    }
}

/// Returns the values unchanged; but if some numbers have a decimal point, all of them get one, so that a column of results has one type.
fn of_one_kind(values: &[Value]) -> Vec<Value> {
    let number = |value: &Value| value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
    if values.iter().all(Value::is_integer) {
        return values.to_vec();
    }
    let floats: Option<Vec<Value>> = values.iter().map(|value| number(value).map(Value::Float)).collect();
    floats.unwrap_or_else(|| values.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> SweepPlan {
        SweepPlan::from_toml(text).unwrap()
    }

    fn shown(plan: &SweepPlan) -> Vec<String> {
        let cell = |value: &Option<Value>| value.as_ref().map_or("-".to_owned(), ToString::to_string);
        points(plan).iter().map(|point| point.values.iter().map(cell).collect::<Vec<_>>().join(" ")).collect()
    }

    const AXES: &str = "[[axis]]\nkey = 'a'\nvalues = [1, 2]\n[[axis]]\nkey = 'b'\nvalues = ['x', 'y']\n";

    #[test]
    fn grid_each_and_list_begin_with_the_base() {
        assert_eq!(shown(&plan(AXES)), ["- -", r#"1 "x""#, r#"1 "y""#, r#"2 "x""#, r#"2 "y""#]);
        let each = format!("sweep.design = 'each'\n{AXES}");
        assert_eq!(shown(&plan(&each)), ["- -", "1 -", "2 -", r#"- "x""#, r#"- "y""#]);
        let list = format!("sweep.design = 'list'\n{AXES}");
        assert_eq!(shown(&plan(&list)), ["- -", r#"1 "x""#, r#"2 "y""#]);
        for text in [AXES, &each, &list] {
            assert_eq!(points(&plan(text)).len() as u64, plan(text).count() + 1);
        }
    }

    #[test]
    fn steps_meet_both_ends() {
        let linear = plan("[[axis]]\nkey = 'a'\nfrom = 1\nto = 3\nsteps = 5");
        assert_eq!(shown(&linear)[1..], ["1.0", "1.5", "2.0", "2.5", "3.0"]);
        let log = plan("[[axis]]\nkey = 'a'\nfrom = 1\nto = 100\nsteps = 3\nscale = 'log'\nwhole = true");
        assert_eq!(shown(&log)[1..], ["1", "10", "100"]);
        let coarse = plan("[[axis]]\nkey = 'a'\nfrom = 1\nto = 3\nsteps = 9\nwhole = true");
        assert_eq!(shown(&coarse)[1..], ["1", "2", "3"]);
        let mixed = plan("[[axis]]\nkey = 'a'\nvalues = [1, 2.5, 3]");
        assert_eq!(shown(&mixed)[1..], ["1.0", "2.5", "3.0"]);
    }

    /// Each of n parts of each axis contains exactly one point, and the two axes are not in the same order.
    #[test]
    fn a_latin_hypercube_meets_every_part_once() {
        let n = 50;
        let text = |seed| {
            format!(
                "[sweep]\ndesign = 'latin'\npoints = {n}\nseed = {seed}\n[[axis]]\nkey = 'a'\nfrom = 0\nto = 1\n\
                     [[axis]]\nkey = 'b'\nfrom = 0\nto = 1\n"
            )
        };
        let parts = |seed, axis: usize| -> Vec<u64> {
            let part = |point: &Point| (point.values[axis].as_ref().unwrap().as_float().unwrap() * n as f64) as u64;
            points(&plan(&text(seed)))[1..].iter().map(part).collect()
        };
        for axis in [0, 1] {
            let mut all = parts(3, axis);
            all.sort_unstable();
            assert_eq!(all, (0..n).collect::<Vec<_>>());
        }
        assert_ne!(parts(3, 0), parts(3, 1));
        assert_ne!(parts(3, 0), parts(4, 0));
        assert_eq!(parts(3, 0), parts(3, 0));
    }

    /// With 64 points, each of 8 by 8 boxes contains one point; an axis of listed values counts as eight equal parts.
    #[test]
    fn a_sobol_sequence_is_even_over_both_axes_together() {
        let text = |seed| {
            format!(
                "[sweep]\ndesign = 'sobol'\npoints = 64\nseed = {seed}\n[[axis]]\nkey = 'a'\nfrom = 0\nto = 1\n\
                     [[axis]]\nkey = 'b'\nvalues = [0, 1, 2, 3, 4, 5, 6, 7]\n"
            )
        };
        let boxes = |seed| -> Vec<(u64, i64)> {
            let found = points(&plan(&text(seed)));
            let part = |value: &Option<Value>| (value.as_ref().unwrap().as_float().unwrap() * 8.0) as u64;
            found[1..]
                .iter()
                .map(|p| (part(&p.values[0]), p.values[1].as_ref().unwrap().as_integer().unwrap()))
                .collect()
        };
        let mut sorted = boxes(3);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..8).flat_map(|a| (0..8).map(move |b| (a, b))).collect::<Vec<_>>());
        assert_ne!(boxes(3), boxes(4));
        assert_eq!(points(&plan(&text(3))).len() as u64, plan(&text(3)).count() + 1);
    }
}
