//! The readers of the fuzz targets, fed with their seeds and with damaged copies of them: a fixed small part of what fuzzing tries.

use std::fs;
use std::path::{Path, PathBuf};

use rand_core::{Rng, SeedableRng};
use tailspn::rng::Philox;

#[path = "../../fuzz/readers.rs"]
mod targets;

/// Damaged copies of each seed.
const COPIES: usize = 24;
/// Larger files are left to fuzzing.
const LARGEST: u64 = 64 << 10;

/// Files of a folder and its folders, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            found.extend(files(&path));
        } else if fs::metadata(&path).unwrap().len() <= LARGEST {
            found.push(path);
        }
    }
    found
}

/// The seeds of a target: its own folder, and files of the tests and the models that it reads.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shared: &[(&str, &str)] = match target {
        "read_pipe" => &[("models", ".xml"), ("tests/data/pipe", ".xml"), ("tests/data/cli", ".xml")],
        "read_plan" => &[("models", ".toml"), ("tests/data/cli", ".toml")],
        "read_hadoop_conf" => &[("tests/data/trace", "_conf.xml")],
        "read_samples" => &[("tests/data/diagnose", ".txt"), ("tests/data/diagnose", ".csv")],

        "read_trace" => &[("tests/data/trace", "")],
        _ => &[],
    };
    let own = root.join("fuzz/seeds").join(target);
    let own = if own.is_dir() { files(&own) } else { Vec::new() };
    let shared = shared.iter().flat_map(|(folder, end)| {
        files(&root.join(folder)).into_iter().filter(move |path| path.to_str().unwrap().ends_with(end))
    });
    own.into_iter().chain(shared).map(|path| fs::read(path).unwrap()).collect()
}

/// A copy with some bytes changed, cut out, doubled, or replaced by what often goes wrong.
fn damaged(seed: &[u8], other: &[u8], dice: &mut Philox) -> Vec<u8> {
    const ODD: [&[u8]; 12] =
        [b"", b"-1", b"1e308", b"1e999", b"NaN", b"99999999999999999999", b"\"", b"\0", b"\xff", b"[[", b"0x", b"="];
    let mut bytes = seed.to_vec();
    for _ in 0..=dice.next_u32() % 3 {
        let at = |dice: &mut Philox, bytes: &[u8]| dice.next_u32() as usize % (bytes.len() + 1);
        let (a, b) = (at(dice, &bytes), at(dice, &bytes));
        let (from, to) = (a.min(b), a.max(b).min(a.min(b) + 200));
        match dice.next_u32() % 6 {
            0 => bytes.truncate(from),
            1 => drop(bytes.drain(from..to)),
            2 => {
                let doubled = bytes[from..to].to_vec();
                bytes.splice(from..from, doubled);
            }
            3 => {
                let word = ODD[dice.next_u32() as usize % ODD.len()];
                let end = (from + word.len().max(1)).min(bytes.len());
                bytes.splice(from..end, word.iter().copied());
            }
            4 => bytes[from..to].iter_mut().take(3).for_each(|byte| *byte ^= 1 << (dice.next_u32() % 8)),
            _ => {
                let cut = at(dice, other).min(other.len());
                let end = (cut + 100).min(other.len());
                bytes.splice(from..to, other[cut..end].iter().copied());
            }
        }
    }
    bytes
}

#[test]
fn damaged_files_are_read_or_refused() {
    for (number, (target, read)) in (0..).zip(targets::READERS) {
        let seeds = seeds(target);
        assert!(!seeds.is_empty(), "{target} has no seeds");
        let mut dice = Philox::seed_from_u64(number);
        for seed in &seeds {
            read(seed);
            for _ in 0..COPIES {
                let other = &seeds[dice.next_u32() as usize % seeds.len()];
                read(&damaged(seed, other, &mut dice));
            }
        }
    }
}

/// What a target reads is no concern of the others, but people mix files up.
#[test]
fn files_of_other_kinds_are_read_or_refused() {
    let all: Vec<Vec<u8>> = targets::READERS.iter().flat_map(|(target, _)| seeds(target).into_iter().take(3)).collect();
    for (_, read) in targets::READERS {
        all.iter().for_each(|bytes| read(bytes));
    }
}

#[test]
fn every_reader_is_a_fuzz_target() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    for (target, _) in targets::READERS {
        assert!(folder.join(format!("fuzz_targets/{target}.rs")).is_file(), "{target}");
        assert!(manifest.contains(&format!("name = \"{target}\"\n")), "{target}");
    }
    assert_eq!(files(&folder.join("fuzz_targets")).len(), targets::READERS.len());
    assert_eq!(manifest.matches("[[bin]]").count(), targets::READERS.len());
}
