//! Tests of the whole: nets in, numbers out.
