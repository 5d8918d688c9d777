//! The features of a task that may explain its slowness, after tables I and II of \[Zhou2018\].

use serde::Serialize;

use crate::diagnose::finding::Cause;

/// A kind of feature, each with its own rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// An amount of data, divided by the stage's mean.
    Numerical,
    /// A time, divided by the task's duration.
    Time,
    /// Activity of the node's CPUs, disk and network during the task.
    Resource,
    /// Distance of the data.
    Discrete,
}

/// A feature of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Feature {
    /// Bytes read from the input.
    ReadBytes,
    /// Bytes read from the shuffle.
    ShuffleRead,
    /// Bytes written to the shuffle.
    ShuffleWrite,
    /// Bytes spilled from memory.
    MemorySpilled,
    /// Bytes spilled to disk.
    DiskSpilled,
    /// Time of garbage collection.
    GcTime,
    /// Time to serialise the result.
    ResultSerialization,
    /// Time to deserialise the task.
    Deserialization,
    /// The CPUs of the node.
    Cpu,
    /// The disk of the node.
    Disk,
    /// The network of the node.
    Network,
    /// Distance of the data: 0 in the process, 1 on the node, 2 farther (equation 4).
    Locality,
}

/// The number of features.
pub const FEATURES: usize = Feature::Locality as usize + 1;

/// The resources of a node.
pub const RESOURCES: [Feature; 3] = [Feature::Cpu, Feature::Disk, Feature::Network];

impl Feature {
    /// All features, in the order of this type.
    pub const ALL: [Self; FEATURES] = [
        Self::ReadBytes,
        Self::ShuffleRead,
        Self::ShuffleWrite,
        Self::MemorySpilled,
        Self::DiskSpilled,
        Self::GcTime,
        Self::ResultSerialization,
        Self::Deserialization,
        Self::Cpu,
        Self::Disk,
        Self::Network,
        Self::Locality,
    ];

    /// Returns the kind.
    pub fn category(self) -> Category {
        match self {
            Self::ReadBytes | Self::ShuffleRead | Self::ShuffleWrite | Self::MemorySpilled | Self::DiskSpilled => {
                Category::Numerical
            }
            Self::GcTime | Self::ResultSerialization | Self::Deserialization => Category::Time,
            Self::Cpu | Self::Disk | Self::Network => Category::Resource,
            Self::Locality => Category::Discrete,
        }
    }

    /// Returns the cause that the feature indicates.
    pub fn cause(self) -> Cause {
        match self {
            Self::ReadBytes | Self::ShuffleWrite => Cause::DataSkew,
            Self::ShuffleRead => Cause::ShuffleSkew,
            Self::MemorySpilled | Self::DiskSpilled => Cause::Spill,
            Self::GcTime => Cause::GarbageCollection,
            Self::ResultSerialization | Self::Deserialization => Cause::Serialization,
            Self::Cpu => Cause::Cpu,
            Self::Disk => Cause::Disk,
            Self::Network => Cause::Network,
            Self::Locality => Cause::Locality,
        }
    }

    /// Returns the display name.
    pub fn text(self) -> &'static str {
        match self {
            Self::ReadBytes => "bytes read",
            Self::ShuffleRead => "shuffle read",
            Self::ShuffleWrite => "shuffle write",
            Self::MemorySpilled => "memory spilled",
            Self::DiskSpilled => "spilled to disk",
            Self::GcTime => "garbage collection",
            Self::ResultSerialization => "result serialization",
            Self::Deserialization => "deserialization",
            Self::Cpu => "CPU of the node",
            Self::Disk => "disk of the node",
            Self::Network => "network of the node",
            Self::Locality => "locality",
        }
    }

    /// Returns true if the feature's values are shares that cannot exceed 1.
    pub fn is_share(self) -> bool {
        matches!(self, Self::Cpu | Self::Disk) || self.category() == Category::Time
    }

    /// Returns the position among [`RESOURCES`].
    pub fn resource(self) -> Option<usize> {
        RESOURCES.iter().position(|&resource| resource == self)
    }
}
