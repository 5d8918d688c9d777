//! Tests of the diagnosis from system calls \[Khadke2012\]: generated logs of strace with a known fault, and the rates
//! of success on them.

mod made;
mod score;

pub use made::{Dealing, Fault, MadeRun};
pub use score::{Rates, Truth, Worth, best_without};
