#![no_main]

#[allow(dead_code, reason = "each target has one reader")]
#[path = "../readers.rs"]
mod readers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| readers::shard(bytes));
