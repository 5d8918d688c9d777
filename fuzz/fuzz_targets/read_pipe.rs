//! Any bytes are read or refused; what is read is written and read back as the same net.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tailspn::formats::pipe::{ReadOptions, Target, WriteOptions, pipe_report, read, write, write_pnml};

fuzz_target!(|bytes: &[u8]| {
    let Ok(first) = read(bytes, &ReadOptions::default()) else { return };
    let _ = pipe_report(&first.net);
    for target in [Target::Pipe4, Target::Pipe5] {
        let written = write(&first.net, &WriteOptions { target, ..WriteOptions::default() });
        let again = read(written.xml.as_bytes(), &ReadOptions::default()).expect("what is written can be read");
        assert_eq!(again.net, first.net);
    }
    let pnml = write_pnml(&first.net).xml;
    let again = read(pnml.as_bytes(), &ReadOptions::default()).expect("what is written can be read");
    assert_eq!(again.net, first.net);
});
