//! Tests on files of real programs and on probes. If the shared folder is missing, they are skipped, or fail if
//! `TAILSPN_REQUIRE_SHARED` is set.

use std::fs;
use std::path::{Path, PathBuf};

use crate::formats::pipe::{Oddity, ReadError, ReadNet, ReadOptions, read};

/// The folder with PIPE nets.
pub(super) fn shared_nets() -> Option<PathBuf> {
    shared("pipe-nets")
}

/// A folder of the shared data, next to the checkout or at `TAILSPN_SHARED`.
pub(super) fn shared(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let shared = std::env::var_os("TAILSPN_SHARED").map_or_else(beside, PathBuf::from);
    let folder = shared.join("data").join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("TAILSPN_REQUIRE_SHARED").is_none(), "{} is missing", folder.display());
    println!("skipped: no ../shared");
    None
}

/// Real files that are refused, and what their message must contain.
const REFUSED: [(&str, &str); 5] = [
    ("fragments/arcNoWeight~2.xml", "line 3, column 32: source `P0` of arc `Arc0` is neither a place nor a transition"),
    (
        "fragments/arcWeightNoToken.xml",
        "line 4, column 32: source `P0` of arc `Arc0` is neither a place nor a transition",
    ),
    (
        "fragments/normalArcWithWeight.xml",
        "line 3, column 32: source `P0` of arc `Arc0` is neither a place nor a transition",
    ),
    (
        "thirdparty/LIUXIAOGANG1__SimpleMakeTripProcess.xml",
        "line 1, column 3309: arc `register_3 TO book_car_10` joins two transitions",
    ),
    ("thirdparty/cazevedo__gspn_thesis_test_case.xml", "line 206, column 68: target `p3:CleanL3` of arc"),
];

fn read_path(path: &Path) -> Result<ReadNet, ReadError> {
    read(&fs::read(path).unwrap(), &ReadOptions::default())
}

#[test]
fn every_real_file_loads_with_its_counts_or_says_why_not() {
    let Some(nets) = shared_nets() else { return };
    let table = fs::read_to_string(nets.join("real/expected.tsv")).unwrap();
    let mut wrong = Vec::new();
    for row in table.lines().skip(1) {
        let cells: Vec<_> = row.split('\t').collect();
        let expected: Vec<usize> = cells[1..4].iter().map(|c| c.parse().unwrap()).collect();
        let refusal = REFUSED.iter().find(|(file, _)| *file == cells[0]);
        match (read_path(&nets.join("real").join(cells[0])), refusal) {
            (Ok(read), None) => {
                let net = &read.net;
                let found = [net.places().len(), net.transitions().len(), net.arcs().len()];
                if found[..] != expected[..] {
                    wrong.push(format!("{}: {found:?}, not {expected:?}", cells[0]));
                }
            }
            (Err(error), Some((_, message))) if error.to_string().contains(message) => {}
            (Err(error), _) => wrong.push(format!("{}: {error}", cells[0])),
            (Ok(_), Some(_)) => wrong.push(format!("{}: loads", cells[0])),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Probes that are refused; all others load.
const REFUSED_PROBES: [(&str, &str); 5] = [
    ("f28_inhibitor_out", "line 13, column 270: inhibitor arc `bad` goes from a transition to a place"),
    ("f29_capacity_exceeded", "line 5, column 1: place `P0` starts with 3 tokens, above its capacity of 2"),
    ("f33_dup_place_id", "line 6, column 12: place `P0` is defined twice; the first is on line 5"),
    ("g02_arc_bad_source", "line 9, column 30: source `NOPE` of arc `NOPE to T0` is neither a place nor a transition"),
    ("g20_negative_marking", "line 5, column 175: the marking of place `P0`: `-1` is not a whole number"),
];

/// Kind, line and column of a warning.
type Odd = (Oddity, usize, usize);

/// Probes with warnings: kind, line and column of each.
const ODD_PROBES: [(&str, &[Odd]); 19] = [
    ("f06_bare", &[(Oddity::MissingRate, 7, 1), (Oddity::MissingInscription, 9, 1)]),
    ("f15_marking_decimal", &[(Oddity::DecimalInteger, 5, 175)]),
    ("f20_rateparam_missing", &[(Oddity::UnknownParameter, 7, 403)]),
    ("f22_pnml2009", &[(Oddity::Untimed, 2, 226)]),
    ("f25_undeclared_token", &[(Oddity::UndeclaredClass, 5, 177)]),
    ("f27_empty_inscription", &[(Oddity::MissingInscription, 9, 1)]),
    ("f31_timed_odd", &[(Oddity::OddBoolean, 7, 237)]),
    ("f32_same_id_pt", &[(Oddity::SharedId, 7, 17)]),
    ("f36_two_nets", &[(Oddity::SeveralNets, 14, 1)]),
    ("f43_rate_comma", &[(Oddity::DecimalComma, 7, 205)]),
    ("g03_priority_decimal", &[(Oddity::TimedPriority, 7, 327)]),
    ("g04_rate_empty", &[(Oddity::MissingRate, 7, 1)]),
    ("g06_capacity_decimal", &[(Oddity::DecimalInteger, 5, 264)]),
    ("g08_no_rate_elem", &[(Oddity::MissingRate, 7, 1)]),
    ("g12_orientation_decimal", &[(Oddity::DecimalInteger, 7, 169)]),
    ("g14_arc_no_inscription", &[(Oddity::MissingInscription, 9, 1)]),
    ("g15_arc_no_id", &[(Oddity::MissingArcId, 9, 1)]),
    ("g21_dup_arc_id", &[(Oddity::DuplicateArcId, 10, 10)]),
    ("g24_inf_upper", &[(Oddity::OddBoolean, 7, 280)]),
];

#[test]
fn every_probe_loads_or_is_refused_as_documented() {
    let Some(nets) = shared_nets() else { return };
    let mut wrong = Vec::new();
    for (name, path) in probes(&nets) {
        let refusal = REFUSED_PROBES.iter().find(|(probe, _)| *probe == name).map(|(_, message)| *message);
        let odd = ODD_PROBES.iter().find(|(probe, _)| *probe == name).map_or(&[][..], |(_, odd)| odd);
        match read_path(&path) {
            Ok(read) => {
                let found: Vec<_> = read.warnings.iter().map(|w| (w.oddity, w.spot.line, w.spot.column)).collect();
                if refusal.is_some() || found != odd {
                    wrong.push(format!("{name}: {found:?}"));
                }
            }
            Err(error) if refusal.is_some_and(|message| error.to_string().contains(message)) => {}
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Path of every real file.
pub(super) fn real(nets: &Path) -> Vec<PathBuf> {
    let table = fs::read_to_string(nets.join("real/expected.tsv")).unwrap();
    table.lines().skip(1).map(|row| nets.join("real").join(row.split('\t').next().unwrap())).collect()
}

/// Name and path of every probe.
pub(super) fn probes(nets: &Path) -> Vec<(String, PathBuf)> {
    let paths = fs::read_dir(nets.join("probes")).unwrap().map(|entry| entry.unwrap().path());
    let xml = paths.filter(|path| path.extension().is_some_and(|e| e == "xml"));
    let mut probes: Vec<_> = xml.map(|p| (p.file_stem().unwrap().to_string_lossy().into_owned(), p)).collect();
    probes.sort();
    probes
}
