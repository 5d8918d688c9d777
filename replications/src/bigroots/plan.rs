//! What is generated: a cluster like that of the paper, a stage of tasks, and hogs.

use crate::bigroots::draw::Draw;
use tailspn::diagnose::causes::Feature;

/// A program that takes a resource of a node away for a while: several processes that want it all the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hog {
    /// The node, from 0.
    pub node: usize,
    /// The resource.
    pub resource: Feature,
    /// From when \[s\].
    pub from: f64,
    /// Until when \[s\].
    pub to: f64,
}

/// Which hogs there are.
#[derive(Clone, Debug, PartialEq)]
pub enum Anomaly {
    /// None.
    None,
    /// One kind, on one node, now and then: windows of 10 s, on average one in 25 s.
    Single(Feature),
    /// All kinds, on all nodes, at random: on each node windows of 10 s, on average one in 45 s.
    Mixed,
    /// These.
    Schedule(Vec<Hog>),
}

/// A job on a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratorPlan {
    /// Nodes. Default 5, as in the paper.
    pub nodes: usize,
    /// Tasks that a node runs at once. Default 4.
    pub slots: usize,
    /// Processors of a node, MB/s of its disk, and MB/s of its network. Default 4, 120 and 110 (a gigabit).
    pub capacity: [f64; 3],
    /// What a task takes of each at most. Default 1 processor, 20 and 30 MB/s: it reads, computes and writes in small pieces.
    pub demand: [f64; 3],
    /// Processes of a hog. Default 8, as in the paper.
    pub hog_processes: f64,
    /// What a process of a hog takes of each at most. Default 1 processor, 60 and 12 MB/s: the paper's network hog waits for each
    /// answer, and harms little.
    pub hog_demand: [f64; 3],
    /// The share of the capacity that is left where a hog works. Default 1, 0.4 and 0.8: a disk that is written to from many sides
    /// seeks, and small packets fill a network with less.
    pub hog_leaves: [f64; 3],
    /// Stages, one after the other, and tasks of each. Default 8 and 90: four to five waves of about 2.6 s each, some 100 s together,
    /// about as long as the paper's job.
    pub stages: [usize; 2],
    /// Mean needs of a task: MB over the network, MB from the disk, seconds of a processor, MB to the disk. Default 15, 12, 1.0, 8.
    pub needs: [f64; 4],
    /// Spread of each need between the tasks of a stage, and of the needs of all tasks between stages: σ of the logarithm. Default 0.25
    /// and 0.7: there are stages that compute, and stages that read.
    pub spread: [f64; 2],
    /// Share of tasks with more data than the others, and how much more at least and at most. Default 0.03, 2 to 4.
    pub skewed: (f64, [f64; 2]),
    /// Share of tasks of each kind that load a resource *themselves*, all of it that they can get, and by which factor their time with
    /// it grows at least and at most: parallel code, spilling, reading from afar. Default 0.03, 3 to 6. High use comes with them and goes
    /// with them: it is what edge detection is for.
    pub self_loading: (f64, [f64; 2]),
    /// Harmless bursts of each resource of a node, such as pages written back: mean seconds between two, and how long one lasts at
    /// least and at most. They show in samples and slow nothing. Default 40, 2 to 5.
    pub bursts: (f64, [f64; 2]),
    /// Noise of the samples of shares, as a uniform deviation. Default 0.02.
    pub noise: f64,
    /// The hogs.
    pub anomaly: Anomaly,
}

impl Default for GeneratorPlan {
    fn default() -> Self {
        Self {
            nodes: 5,
            slots: 4,
            capacity: [4.0, 120.0, 110.0],
            demand: [1.0, 20.0, 30.0],
            hog_processes: 8.0,
            hog_demand: [1.0, 60.0, 12.0],
            hog_leaves: [1.0, 0.4, 0.8],
            stages: [8, 90],
            needs: [15.0, 12.0, 1.0, 8.0],
            spread: [0.25, 0.7],
            skewed: (0.03, [2.0, 4.0]),
            self_loading: (0.03, [3.0, 6.0]),
            bursts: (40.0, [2.0, 5.0]),
            noise: 0.02,
            anomaly: Anomaly::None,
        }
    }
}

/// How long a hog works \[s\].
const WINDOW: f64 = 10.0;
/// Mean seconds from one hog's start to the next, on the node of a single kind and on each node of a mix.
const BETWEEN_SINGLE: f64 = 25.0;
const BETWEEN_MIXED: f64 = 45.0;
/// Until when hogs start \[s\].
const LAST: f64 = 200.0;

impl GeneratorPlan {
    /// The hogs of one job.
    pub(super) fn hogs(&self, draw: &Draw) -> Vec<Hog> {
        match &self.anomaly {
            Anomaly::None => Vec::new(),
            Anomaly::Schedule(hogs) => hogs.clone(),
            Anomaly::Single(resource) => {
                let node = (draw.uniform(HOGS, 0) * self.nodes as f64) as usize;
                windows(draw, 0, BETWEEN_SINGLE, |from, _| Hog { node, resource: *resource, from, to: from + WINDOW })
            }
            Anomaly::Mixed => {
                const KINDS: [Feature; 3] = [Feature::Cpu, Feature::Disk, Feature::Network];
                let of_node = |node| {
                    windows(draw, node as u32 + 1, BETWEEN_MIXED, move |from, kind: f64| Hog {
                        node,
                        resource: KINDS[(kind * 3.0) as usize],
                        from,
                        to: from + WINDOW,
                    })
                };
                (0..self.nodes).flat_map(of_node).collect()
            }
        }
    }
}

/// The owner of the draws about hogs.
const HOGS: u32 = 1 << 30;

/// Windows that do not overlap: pauses are exponential.
fn windows(draw: &Draw, owner: u32, between: f64, hog: impl Fn(f64, f64) -> Hog) -> Vec<Hog> {
    let mut list = Vec::new();
    let mut at = 0.0;
    for sample in 0_u32.. {
        let word = |i: u32| draw.uniform(HOGS + 1 + owner, 2 * sample + i);
        at += -(between - WINDOW) * libm::log(1.0 - word(0));
        if at > LAST {
            break;
        }
        list.push(hog(at, word(1)));
        at += WINDOW;
    }
    list
}

/// The 13 rows of table IV of \[Zhou2018\]: which hog worked on which of five nodes, from when to when.
pub fn table_iv() -> Vec<Hog> {
    use Feature::{Cpu, Disk, Network};
    let rows = [
        (0, Cpu, 0.0),
        (0, Disk, 100.0),
        (1, Cpu, 30.0),
        (1, Cpu, 63.0),
        (1, Cpu, 83.0),
        (2, Disk, 99.0),
        (3, Network, 27.0),
        (3, Disk, 87.0),
        (3, Network, 112.0),
        (4, Disk, 33.0),
        (4, Cpu, 53.0),
        (4, Disk, 69.0),
        (4, Cpu, 100.0),
    ];
    rows.map(|(node, resource, from)| Hog { node, resource, from, to: from + WINDOW }).into()
}
