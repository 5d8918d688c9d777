//! Reading and writing nets: PIPE XML and PNML in, PIPE XML, Graphviz and SVG out.

pub mod pipe;

mod layout;
