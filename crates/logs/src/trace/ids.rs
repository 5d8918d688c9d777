//! Ids in a trace: positions in its tables, and times.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// Returns the id of a position. Positions beyond `u32::MAX` cannot occur, because the limit on attempts is lower.
            pub(super) fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).unwrap_or(u32::MAX))
            }

            /// Returns the position in the trace's table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// An application of a trace.
    ApplicationId
}
id! {
    /// An attempt to run a stage.
    StageId
}
id! {
    /// An executor.
    ExecutorId
}
id! {
    /// A node.
    NodeId
}

/// A time in whole microseconds since the start of the trace: the start of its first application, or the
/// first time in a cluster trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Moment(i64);

impl Moment {
    /// Creates a time from microseconds since the start of the trace.
    pub(super) fn from_microseconds(us: i64) -> Self {
        Self(us)
    }

    /// Microseconds since the start of the trace.
    pub fn microseconds(self) -> i64 {
        self.0
    }

    /// Seconds since the start of the trace.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Seconds from `earlier` to this time; negative if `earlier` is later.
    pub fn seconds_since(self, earlier: Self) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 / 1e6
    }

    pub(super) fn shifted(self, origin: i64) -> Self {
        Self(self.0.saturating_sub(origin))
    }
}
