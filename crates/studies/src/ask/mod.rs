//! Questions about jobs and nets, and how they are answered. The command line, the page and Python ask through the same types.

pub mod net;
