//! Any bytes are a project or a `.net` of GreatSPN, or refused; what is read is written and read back, if it can be written.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tailspn::formats::greatspn::{read_net, read_project, write};
use tailspn::formats::pipe::{ReadOptions, write_pnml};
use tailspn::formats::read_bytes;
use tailspn::net::differences;

fuzz_target!(|bytes: &[u8]| {
    // the text after a byte 0 is the `.def` file
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let file = parts.next().unwrap_or_default();
    let definitions = parts.next().map(|text| String::from_utf8_lossy(text).into_owned());
    let options = ReadOptions { definitions, ..ReadOptions::default() };
    for read in [read_project(file, &options), read_net(file, &options)].into_iter().flatten() {
        if let Ok(written) = write(&read.net) {
            let again = read_project(written.xml.as_bytes(), &ReadOptions::default()).expect("what is written can be read");
            if written.warnings.is_empty() {
                assert_eq!(differences(&again.net, &read.net), []);
            }
        }
        let pnml = write_pnml(&read.net).xml;
        let again = read_bytes(pnml.as_bytes(), &ReadOptions::default()).expect("what is written can be read");
        assert_eq!(again.net, read.net);
    }
});
