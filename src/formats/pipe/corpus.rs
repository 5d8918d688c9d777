//! Tests against the files of real programs and the probes; they are skipped where the shared folder is absent.

use std::fs;
use std::path::{Path, PathBuf};

use crate::formats::pipe::{ReadError, ReadNet, ReadOptions, read};

/// The folder with PIPE nets, beside the checkout or where `TAILSPN_SHARED` says.
pub(super) fn shared_nets() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let shared = std::env::var_os("TAILSPN_SHARED").map_or_else(beside, PathBuf::from);
    let nets = shared.join("data/pipe-nets");
    if nets.is_dir() {
        return Some(nets);
    }
    println!("skipped: no ../shared");
    None
}

/// Real files that are refused, and what their message must contain.
const REFUSED: [(&str, &str); 0] = [];

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
                for w in &read.warnings {
                    println!("{}: {w}", cells[0]);
                }
            }
            (Err(error), Some((_, message))) if error.to_string().contains(message) => {}
            (Err(error), _) => wrong.push(format!("{}: {error}", cells[0])),
            (Ok(_), Some(_)) => wrong.push(format!("{}: loads", cells[0])),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn probes_x() {
    let Some(nets) = shared_nets() else { return };
    let mut files: Vec<_> = fs::read_dir(nets.join("probes"))
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "xml"))
        .collect();
    files.sort();
    for f in files {
        let name = f.file_name().unwrap().to_string_lossy().into_owned();
        match read_path(&f) {
            Ok(read) => {
                println!("{name}: ok {} {}", read.dialect, read.net.name());
                for w in &read.warnings {
                    println!("   {w}");
                }
            }
            Err(e) => println!("{name}: REFUSED\n   {}", e.to_string().replace('\n', "\n   ")),
        }
    }
}
