//! temporary
use crate::compile::Code;
pub(crate) struct Encoded {
    pub(crate) words: Vec<u32>,
    pub(crate) stack: usize,
    pub(crate) loops: u64,
}
pub(crate) fn encode(_: &Code) -> Result<Encoded, String> {
    Err("codes are not there yet".into())
}
