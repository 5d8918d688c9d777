//! Distributions as tables, for many draws.

mod quantile_table;
mod student;

pub(crate) use quantile_table::QuantileTable;
pub(crate) use student::Student;
