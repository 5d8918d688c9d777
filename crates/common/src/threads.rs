//! The number of threads of a run.

use std::num::NonZeroUsize;

/// Returns the number of threads: one per core, or as many as requested if that is less. More threads would only wait.
pub fn at_most(requested: Option<NonZeroUsize>) -> NonZeroUsize {
    let available = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    requested.map_or(available, |threads| threads.min(available))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_threads_than_requested_or_than_cores() {
        assert_eq!(at_most(Some(NonZeroUsize::MIN)), NonZeroUsize::MIN);
        assert_eq!(at_most(NonZeroUsize::new(usize::MAX)), at_most(None));
    }
}
