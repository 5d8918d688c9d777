//! The plan of a generated job: a cluster like the paper's, the tasks of its stages, and hogs.

use crate::bigroots::draw::Draw;
use tailspn::diagnose::causes::Feature;

/// A program that takes a resource of a node away for some time: several processes that use the resource all the time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hog {
    /// The node, from 0.
    pub node: usize,
    /// The resource.
    pub resource: Feature,
    /// Start \[s\].
    pub from: f64,
    /// End \[s\].
    pub to: f64,
}

/// The hogs of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Anomaly {
    /// No hogs.
    None,
    /// Hogs of one resource on one node, at random times: windows of 10 s that start 25 s apart on average.
    Single(Feature),
    /// Hogs of random resources on all nodes, at random times: on each node, windows of 10 s that start 45 s apart on
    /// average.
    Mixed,
    /// The given hogs.
    Schedule(Vec<Hog>),
}

/// A job on a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratorPlan {
    /// Nodes. Default 5, as in the paper.
    pub nodes: usize,
    /// Tasks that a node runs at the same time. Default 4.
    pub slots: usize,
    /// Capacity of a node: number of CPUs, MB/s of the disk, and MB/s of the network. Default 4, 120 and 110 (gigabit
    /// Ethernet).
    pub capacity: [f64; 3],
    /// Maximum use of each resource by one task, in the units of `capacity`. Default 1 CPU, 20 and 30 MB/s: a task
    /// reads, computes and writes in small pieces.
    pub demand: [f64; 3],
    /// Processes of a hog. Default 8, as in the paper.
    pub hog_processes: f64,
    /// Maximum use of each resource by one process of a hog, in the units of `capacity`. Default 1 CPU, 60 and 12 MB/s:
    /// the paper's network hog waits for each answer, and slows tasks little.
    pub hog_demand: [f64; 3],
    /// Share of each resource's capacity that remains while a hog uses the resource; tasks and hog share the remaining
    /// capacity. Default 1, 0.4 and 0.8: a disk with many writers loses time to seeks, and a network carries less data
    /// in small packets.
    pub hog_leaves: [f64; 3],
    /// Number of stages, which run one after the other, and number of tasks of each stage. Default 8 and 90: a stage
    /// has four to five waves of about 2.6 s each; the job takes some 100 s, about as long as the paper's job.
    pub stages: [usize; 2],
    /// Mean needs of a task: MB over the network, MB from the disk, CPU seconds, MB to the disk. Default 15, 12, 1.0,
    /// 8.
    pub needs: [f64; 4],
    /// Two standard deviations of the logarithm of each need: between the tasks of a stage, and between stages (a
    /// factor that all tasks of a stage share). Default 0.25 and 0.7: some stages mainly compute, and others mainly
    /// read.
    pub spread: [f64; 2],
    /// Share of tasks with more data than the others, and the least and the largest factor by which their needs grow.
    /// Default 0.03, 2 to 4.
    pub skewed: (f64, [f64; 2]),
    /// Tasks that load a resource *themselves*, such as parallel code, spilling, or reading from distant nodes: such
    /// tasks use as much of the resource as possible. The first number is the share of such tasks for each resource;
    /// the other two are the least and the largest factor by which their time with the resource grows. Default 0.03, 3
    /// to
    /// 6. The high use of the resource begins and ends with such a task; edge detection recognizes this.
    pub self_loading: (f64, [f64; 2]),
    /// Harmless bursts in the use of each resource of a node, such as the write-back of cached pages. The three numbers
    /// are the mean time from the end of one burst to the next, and the least and the largest duration of a burst
    /// \[s\]. Bursts appear in the samples but slow no task. Default 40, 2 to 5.
    pub bursts: (f64, [f64; 2]),
    /// Noise of the samples: each sampled share deviates by a uniform number between minus and plus this value. Default
    /// 0.02.
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

/// Time for which a hog works \[s\].
const WINDOW: f64 = 10.0;
/// Mean seconds from one hog's start to the next: on the one node of [`Anomaly::Single`], and on each node of
/// [`Anomaly::Mixed`].
const BETWEEN_SINGLE: f64 = 25.0;
const BETWEEN_MIXED: f64 = 45.0;
/// Latest start of a random hog \[s\].
const LAST: f64 = 200.0;

impl GeneratorPlan {
    /// Returns the hogs of one job.
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

/// Owner of the random numbers of hogs.
const HOGS: u32 = 1 << 30;

/// Returns hogs whose windows do not overlap: the pauses between them are exponential.
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

/// Returns the 13 rows of table IV of \[Zhou2018\]: the node of each hog (of five nodes), its resource, its start and
/// its end.
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
