//! Placeholder of accumulators until the estimate branch lands.
#![allow(missing_docs, clippy::all)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moments {
    count: u64,
    sum: u128,
    sum_squares: f64,
    min: u64,
    max: u64,
}
impl Moments {
    pub fn push(&mut self, x: u64) {
        self.count += 1;
        self.sum += u128::from(x);
        self.sum_squares += (x as f64) * (x as f64);
        if x < self.min || self.count == 1 {
            self.min = x;
        }
        if x > self.max {
            self.max = x;
        }
    }
    pub fn merge(&mut self, o: &Self) {
        if o.count == 0 {
            return;
        }
        if self.count == 0 {
            *self = o.clone();
            return;
        }
        self.count += o.count;
        self.sum += o.sum;
        self.sum_squares += o.sum_squares;
        self.min = self.min.min(o.min);
        self.max = self.max.max(o.max);
    }
    pub fn count(&self) -> u64 {
        self.count
    }
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count as f64
    }
    pub fn variance(&self) -> f64 {
        let n = self.count as f64;
        (self.sum_squares - self.sum as f64 * self.mean()) / (n - 1.0)
    }
}
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FloatMoments {
    count: u64,
    mean: f64,
    m2: f64,
}
impl FloatMoments {
    pub fn push(&mut self, x: f64) {
        self.count += 1;
        let d = x - self.mean;
        self.mean += d / self.count as f64;
        self.m2 += d * (x - self.mean);
    }
    pub fn merge(&mut self, o: &Self) {
        if o.count == 0 {
            return;
        }
        let n = (self.count + o.count) as f64;
        let d = o.mean - self.mean;
        self.m2 += o.m2 + d * d * (self.count as f64) * (o.count as f64) / n;
        self.mean += d * o.count as f64 / n;
        self.count += o.count;
    }
    pub fn count(&self) -> u64 {
        self.count
    }
    pub fn mean(&self) -> f64 {
        self.mean
    }
    pub fn variance(&self) -> f64 {
        self.m2 / (self.count as f64 - 1.0)
    }
}
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TickHistogram {
    n: u64,
}
impl TickHistogram {
    pub fn push(&mut self, _x: u64) {
        self.n += 1;
    }
    pub fn merge(&mut self, o: &Self) {
        self.n += o.n;
    }
}
