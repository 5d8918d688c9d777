//! Any bytes are read or refused; what is read is written as JANI, where it can be, and that is read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tailspn::formats::jani::{read, write};
use tailspn::formats::pipe::ReadOptions;
use tailspn::formats::prism::prism;

fuzz_target!(|bytes: &[u8]| {
    let constants = ["N", "T", "c", "n", "t"].map(|name| (name.to_owned(), 3.0)).to_vec();
    for constants in [constants, Vec::new()] {
        let Ok(model) = read(bytes, &ReadOptions { constants, ..ReadOptions::default() }) else { continue };
        let _ = prism(&model.net, &[]);
        if let Ok(text) = write(&model.net, &[]) {
            let again = read(text.as_bytes(), &ReadOptions::default()).expect("what is written can be read");
            assert_eq!(again.net.places().len(), model.net.places().len());
        }
    }
});
