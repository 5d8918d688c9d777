//! The native half of the Python package `tailspn`: runs commands in the Python process, reads results from their JSON, builds
//! nets, and exports tables to Arrow.
//!
//! Users import the Python package in `crates/python/python/tailspn` instead.

mod command;
mod draws;
mod found;
mod net;
mod tables;

/// Native half of the package `tailspn`; use that package instead of this module.
#[pyo3::pymodule]
mod _tailspn {
    #[pymodule_export]
    use crate::command::{Outcome, cli, options, run};
    #[pymodule_export]
    use crate::draws::NativeSimulator;
    #[pymodule_export]
    use crate::found::{Found, read};
    #[pymodule_export]
    use crate::net::{NativeBuilder, NativeNet};
    #[pymodule_export]
    use crate::tables::NativeTable;
}
