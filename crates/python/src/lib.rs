//! The native half of the Python package `tailspn`: commands in process, results read from their JSON, nets, tables for Arrow.
//!
//! People import `crates/python/python/tailspn`.

mod command;
mod draws;
mod found;
mod net;
mod tables;

/// Native half of `tailspn`; use that package instead.
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
