//! A plain program: `f64`, one replication at a time, the logarithm of a library, a binary heap of the standard
//! library. The baselines for the engines in the same run.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tailspn::compile::Program;
use tailspn::semantics::{Candidates, find_candidates, fire, pick, rate};

use super::PHASE_MEANS_S;

/// SplitMix64.
pub(crate) struct Words(u64);

impl Words {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        let u = ((self.next() >> 11) as f64 + 0.5) * (-53_f64).exp2();
        -u.ln() * mean
    }
}

/// The time of one job by its formula: the latest map task, then the latest reduce task.
pub(crate) fn job_time(maps: u64, reduces: u64, words: &mut Words) -> f64 {
    let [load, maps_of @ .., shuffle, merge, reduce] = PHASE_MEANS_S;
    let start = words.exponential(load);
    let mut end = start;
    for _ in 0..maps {
        let task = maps_of.iter().fold(start, |time, &mean| time + words.exponential(mean));
        end = end.max(task);
    }
    let start = end + words.exponential(shuffle);
    let mut end = start;
    for _ in 0..reduces {
        end = end.max(start + words.exponential(merge) + words.exponential(reduce));
    }
    end
}

/// A time as ordered bits: times are not negative.
type When = Reverse<(u64, u32, u32)>;

/// The token game with an event list: each enabled transition has an entry, and one that is out of date is passed over.
pub(crate) struct EventLoop<'a> {
    program: &'a Program,
    marking: Vec<u32>,
    events: BinaryHeap<When>,
    rates: Vec<f64>,
    stamps: Vec<u32>,
    candidates: Candidates,
}

impl<'a> EventLoop<'a> {
    pub(crate) fn new(program: &'a Program) -> Self {
        let transitions = program.transitions();
        Self {
            program,
            marking: program.initial.clone(),
            events: BinaryHeap::new(),
            rates: vec![0.0; transitions],
            stamps: vec![0; transitions],
            candidates: Candidates::default(),
        }
    }

    /// Plays one replication up to `horizon` [s]; the number of firings.
    pub(crate) fn play(&mut self, horizon: f64, words: &mut Words) -> u64 {
        let program = self.program;
        self.marking.clone_from(&program.initial);
        self.events.clear();
        self.rates.fill(0.0);
        let mut firings = 0;
        for &t in &program.timed {
            self.look_at(t, 0.0, words);
        }
        while let Some(Reverse((bits, t, stamp))) = self.events.pop() {
            if self.stamps[t as usize] != stamp {
                continue;
            }
            let now = f64::from_bits(bits);
            if now > horizon {
                break;
            }
            firings += 1;
            self.rates[t as usize] = 0.0;
            fire(program, t as usize, &mut self.marking).expect("few tokens");
            for u in program.affects.of(t as usize) {
                self.look_at(u, now, words);
            }
            for &group in program.affects_groups.row(t as usize) {
                firings += self.settle(group as usize, now, words);
            }
        }
        firings
    }

    fn look_at(&mut self, t: u32, now: f64, words: &mut Words) {
        let rate = rate(self.program, t as usize, &self.marking).expect("rates are constant");
        if rate.to_bits() != self.rates[t as usize].to_bits() {
            self.rates[t as usize] = rate;
            let stamp = self.stamps[t as usize].wrapping_add(1);
            self.stamps[t as usize] = stamp;
            if rate > 0.0 {
                self.events.push(Reverse(((now + words.exponential(rate.recip())).to_bits(), t, stamp)));
            }
        }
    }

    /// Fires the immediate transitions of a group; the number of firings. In these nets no group enables another one.
    fn settle(&mut self, group: usize, now: f64, words: &mut Words) -> u64 {
        let program = self.program;
        let mut firings = 0;
        loop {
            find_candidates(program, group, &self.marking, &mut self.candidates).expect("weights are constant");
            if self.candidates.transitions().is_empty() {
                return firings;
            }
            let t = pick(&self.candidates, || (words.next() >> 32) as u32);
            fire(program, t as usize, &mut self.marking).expect("few tokens");
            firings += 1;
            for u in program.affects.of(t as usize) {
                self.look_at(u, now, words);
            }
        }
    }
}
