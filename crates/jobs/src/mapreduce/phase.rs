//! The nine phases of a job, in the order of the paper, and their names.

use std::fmt;

/// One of the nine phases of SPN-GC, or a part of the third, \[PESARO15, Sec. II\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// 1: load the user's program, split the input. Once per job.
    Load,
    /// 2: fetch the part of a split that is on another node. Once per map task.
    Read,
    /// 3: map function on the CPU, copy to the GPU. Once per map task.
    ToGpu,
    /// 4: GPU computing. Once per map task.
    Gpu,
    /// 5: GPU device to host. Once per map task.
    ToHost,
    /// 6: sort and spill the map's output. Once per map task.
    Spill,
    /// 7: transmit and shuffle, after the last map. Once per job.
    Shuffle,
    /// 8: sort and merge. Once per reduce task.
    Merge,
    /// 9: reduce function. Once per reduce task.
    Reduce,
    /// The map function on the CPU, as a phase of its own: the first step of phase 3 where maps wait for a GPU, because they hold it from the copy on; all
    /// of phase 3 where there are no GPUs. Once per map task.
    Map,
}

impl Phase {
    /// All phases, in the order in which a job goes through them.
    pub const ALL: [Self; 10] = [
        Self::Load,
        Self::Read,
        Self::Map,
        Self::ToGpu,
        Self::Gpu,
        Self::ToHost,
        Self::Spill,
        Self::Shuffle,
        Self::Merge,
        Self::Reduce,
    ];

    /// The phases of a map task. No plan has all of them: see [`Plan::phases_of_map`](crate::mapreduce::Plan::phases_of_map).
    pub const OF_MAP: [Self; 6] = [Self::Read, Self::Map, Self::ToGpu, Self::Gpu, Self::ToHost, Self::Spill];

    /// The phases of a reduce task, 8 and 9.
    pub const OF_REDUCE: [Self; 2] = [Self::Merge, Self::Reduce];

    /// Returns a number below that of [`Phase::ALL`], different for each phase.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Returns the paper's number, 1 to 9; the map function is in 3.
    pub fn number(self) -> usize {
        match self {
            Self::Map => Self::ToGpu.number(),
            other => other.index() + 1,
        }
    }

    /// Returns the key of the phase in a plan's `[model.distribution]`, which is also its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Load => "load",
            Self::Read => "read",
            Self::ToGpu => "to_gpu",
            Self::Gpu => "gpu",
            Self::ToHost => "to_host",
            Self::Spill => "spill",
            Self::Shuffle => "shuffle",
            Self::Merge => "merge",
            Self::Reduce => "reduce",
            Self::Map => "map",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_are_numbered_as_in_the_paper() {
        let numbers: Vec<usize> = Phase::ALL.iter().map(|p| p.number()).collect();
        assert_eq!(numbers, [1, 2, 3, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(Phase::OF_MAP.map(Phase::number), [2, 3, 3, 4, 5, 6]);
        assert_eq!(Phase::OF_REDUCE.map(Phase::number), [8, 9]);
    }
}
