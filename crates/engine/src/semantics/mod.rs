//! The only definition of enabling and firing, used by both simulation and solution.
//!
//! * A transition is **enabled** when every input and test place holds at least the arc's weight of each class, every
//!   inhibitor place holds fewer than the arc's weight, and no capacity would be exceeded after the firing. For
//!   capacities, the tokens that the firing itself consumes are subtracted first.
//! * The **enabling degree** of a transition is the number of times it could fire simultaneously: the minimum, over its
//!   inputs, of the tokens divided by the weight, or 1 if it has no inputs. Tests, inhibitors and capacities do not
//!   scale with the degree.
//! * **Immediate** transitions fire before any timed transition. One of the enabled immediate transitions of the highest
//!   priority is chosen. Its probability is its weight divided by the sum of the weights of these transitions.
//!   Transitions that cannot influence each other are treated group by group
//!   ([`Program::groups`](crate::compile::Program::groups)). This does not change any probability.
//! * A transition with a rate or weight of 0 never fires. A rate or weight that is negative or not a number is a
//!   [`Fault`].
//!
//! After Ajmone Marsan et al., \[AjmoneMarsan1995\].

mod choose;
mod enabled;
mod fault;
mod fire;

pub use choose::{Candidates, MAX_IMMEDIATE_FIRINGS, find_candidates, find_candidates_among, find_candidates_by, pick};
pub use enabled::{can_fire, enabling_degree, is_enabled, rate, served};
pub use fault::Fault;
pub(crate) use fire::add;
pub use fire::fire;
