//! Diagnosis from system calls where the truth is known \[Khadke2012\]: generated logs of strace with a fault, and rates of success.

mod made;
mod score;

pub use made::{Dealing, Fault, MadeRun};
pub use score::{Rates, Truth, Worth, best_without};
