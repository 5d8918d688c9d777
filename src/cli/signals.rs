//! Ctrl-C and SIGTERM as a flag: the first ends the work, the second the process.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The signal that ends the work; 0 before a signal is received.
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Catches both signals from now on. Has no effect on systems without this signal.
pub(crate) fn catch() {
    let second = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // in this order: the first signal finds the flag unset
        let _ = flag::register_conditional_shutdown(signal, exit_code(signal), Arc::clone(&second));
        let _ = flag::register(signal, Arc::clone(&second));
        let _ = flag::register_usize(signal, Arc::clone(&SIGNAL), signal.unsigned_abs() as usize);
    }
}

/// Returns true once a signal was received.
pub(crate) fn signalled() -> bool {
    SIGNAL.load(Ordering::SeqCst) != 0
}

/// Returns the exit code of work that was stopped: the code of the received signal, or the code of Ctrl-C.
pub(crate) fn stopped_code() -> u8 {
    let signal = if SIGNAL.load(Ordering::SeqCst) == SIGTERM.unsigned_abs() as usize { SIGTERM } else { SIGINT };
    u8::try_from(exit_code(signal)).unwrap_or(u8::MAX)
}

/// Returns the exit code after a signal, by the convention of shells.
fn exit_code(signal: i32) -> i32 {
    128 + signal
}
