//! The net as a person wrote it.
pub mod ids;
pub mod law;
