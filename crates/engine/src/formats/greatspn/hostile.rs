//! Broken, huge or malicious files.

use std::fmt::Write as _;

use proptest::prelude::*;

use crate::formats::damage::damaged;
use crate::formats::greatspn::samples::{DEF, NET, SAMPLE};
use crate::formats::greatspn::{read_net, read_project, write};
use crate::formats::pipe::{Fault, ReadOptions};
use crate::net::differences;

fn fault(text: &str) -> Fault {
    read_project(text.as_bytes(), &ReadOptions::default()).unwrap_err().problems.remove(0).fault
}

fn with_def() -> ReadOptions {
    ReadOptions { definitions: Some(DEF.to_owned()), ..ReadOptions::default() }
}

#[test]
fn a_project_that_ends_at_any_byte_is_refused() {
    let end = SAMPLE.find("</project>").unwrap();
    for length in 0..end {
        assert!(read_project(&SAMPLE.as_bytes()[..length], &ReadOptions::default()).is_err(), "{length}");
    }
}

#[test]
fn a_net_file_that_ends_at_any_byte_is_read_or_refused() {
    // the last arc's layers, transition and counts may be missing
    let end = NET.trim_end().len();
    for length in 0..=end {
        let read = read_net(&NET.as_bytes()[..length], &with_def());
        assert_eq!(read.is_ok(), length == end, "{length}");
    }
    for length in 0..DEF.len() {
        let options = ReadOptions { definitions: Some(DEF[..length].to_owned()), ..ReadOptions::default() };
        let _ = read_net(NET.as_bytes(), &options);
    }
}

#[test]
fn one_changed_byte_never_panics() {
    for at in 0..SAMPLE.len() {
        for byte in [b'<', b'&', b'"', 0, 0xFF, b'9', b'-'] {
            let mut bytes = SAMPLE.as_bytes().to_vec();
            bytes[at] = byte;
            let _ = read_project(&bytes, &ReadOptions::default());
        }
    }
    for at in 0..NET.len() {
        for byte in [b'|', b' ', b'\n', 0, 0xFF, b'9', b'-'] {
            let mut bytes = NET.as_bytes().to_vec();
            bytes[at] = byte;
            let _ = read_net(&bytes, &with_def());
        }
    }
}

#[test]
fn nesting_and_numbers_have_limits() {
    assert_eq!(fault(&"<project>".repeat(100_000)), Fault::TooDeep { limit: 64 });
    assert_eq!(fault(&format!("<project><gspn><nodes>{}", "<place>".repeat(100_000))), Fault::TooDeep { limit: 64 });
    let deep = format!("{}1{}", "(".repeat(10_000), ")".repeat(10_000));
    let node = |value: &str| {
        format!("<project><gspn name='n'><nodes><place name='p' marking='{value}'/></nodes><edges/></gspn></project>")
    };
    for value in
        [&deep, "1e400", "1 / 0", "0 / 0", "4294967296", &"9".repeat(10_000), &"1+".repeat(100_000), "Min[", "]["]
    {
        assert!(
            read_project(node(value).as_bytes(), &ReadOptions::default()).is_err(),
            "{}",
            &value[..value.len().min(20)]
        );
    }
    let net = "|0|\n|\nf 0 99999999999999 0 0 0 0 0\nP 0 1 1 1 1 0\n";
    assert!(read_net(net.as_bytes(), &ReadOptions::default()).is_err());
    for count in ["-1", "99999999999999999999", "1e3", "x"] {
        let net = format!("|0|\n|\nf {count} 0 0 0 0 0 0\n");
        assert!(read_net(net.as_bytes(), &ReadOptions::default()).is_err(), "{count}");
    }
}

#[test]
fn constants_that_double_300_times_are_refused() {
    let mut nodes = String::from("<place name='p' marking='a0'/>");
    for i in 0..300 {
        let _ = write!(nodes, "<constant consttype='REAL' name='a{i}' value='a{} + a{}'/>", i + 1, i + 1);
    }
    let text = format!("<project><gspn name='n'><nodes>{nodes}</nodes><edges/></gspn></project>");
    assert!(read_project(text.as_bytes(), &ReadOptions::default()).is_err());
}

#[test]
fn files_beyond_the_limit_and_entities_are_refused() {
    let options = ReadOptions { max_bytes: 10, ..ReadOptions::default() };
    assert!(matches!(read_project(SAMPLE.as_bytes(), &options).unwrap_err().problems[0].fault, Fault::TooLarge { .. }));
    assert!(matches!(read_net(NET.as_bytes(), &options).unwrap_err().problems[0].fault, Fault::TooLarge { .. }));
    let bomb = "<!DOCTYPE project [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><project name='&x;'/>";
    assert_eq!(fault(bomb), Fault::Entity { name: "x".into() });
    assert_eq!(fault("<project name='empty' version='121'/>"), Fault::NoNetPage);
    assert_eq!(fault("<project><gspn name='n'><nodes/><edges/></gspn></project>"), Fault::NoNetPage);
}

/// Pieces that a sample is damaged with.
const PIECES: [&str; 22] = [
    "",
    "<",
    ">",
    "&amp;",
    "\"",
    " ",
    "-1",
    "99999999999",
    "1e400",
    "NaN",
    "idle",
    "#idle",
    "[",
    "]",
    "Min[#idle, ",
    "lambda",
    "N",
    "GEN",
    "IMM",
    "</nodes>",
    "</gspn><gspn name=\"x\">",
    "\u{FFFF}",
];

proptest! {
    #[test]
    fn damaged_samples_that_are_read_survive_a_round_trip(
        text in damaged(SAMPLE, &PIECES)
    ) {
        if let Ok(first) = read_project(text.as_bytes(), &ReadOptions::default())
            && let Ok(written) = write(&first.net)
        {
            let again = read_project(written.xml.as_bytes(), &ReadOptions::default());
            let again = again.map_err(|e| TestCaseError::fail(format!("{e}\n{text}\n{}", written.xml)))?;
            prop_assert_eq!(again.net.places().len(), first.net.places().len());
            if written.warnings.is_empty() {
                let mut differ = differences(&again.net, &first.net);
                // GreatSPN has no truth values in place of numbers: they are written as 1 and 0
                let as_number = |text: &Option<String>| text.as_ref().map(|text| format!("if({text}, 1, 0)"));
                differ.retain(|found| found.first != as_number(&found.second));
                prop_assert_eq!(differ, vec![], "{}", written.xml);
            }
        }
    }
}
