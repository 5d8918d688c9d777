//! The diagnoses on logs written by hand: each rule alone, and what must not be judged.

use crate::diagnose::finding::Cause;
use crate::diagnose::syscalls::*;
use crate::watch::Unwatched;
