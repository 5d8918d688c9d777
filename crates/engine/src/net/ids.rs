//! Dense identifiers of the parts of one net.
//!
//! An id is a position in a table of its net, and meaningless for another net.

use std::fmt;

macro_rules! dense_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The id of the part at `index` in its net's table.
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("a net has fewer than 2^32 parts of a kind"))
            }

            /// Position in the net's table.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(self, f)
            }
        }
    };
}

dense_id!(
    /// A place, printed as `p3`.
    PlaceId,
    "p"
);
dense_id!(
    /// A transition, printed as `t7`.
    TransitionId,
    "t"
);
dense_id!(
    /// A token class (a colour of PIPE), printed as `c0`.
    ClassId,
    "c"
);
dense_id!(
    /// A named rate parameter, printed as `k1`.
    ParameterId,
    "k"
);
