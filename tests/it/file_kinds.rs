//! Kinds of files, told by one function for every command.

use std::path::Path;

use tailspn::subject::FileKind;
use tailspn::trace::Format;

use crate::cli::shown;
use crate::cli_sweep::unbroken;

#[test]
fn files_of_each_kind_are_recognised() {
    let of = |path: &str| FileKind::of(&Path::new("tests/data").join(path));
    assert_eq!(of("trace/sort-32mb.spark.gz"), Some(FileKind::Log(Format::SparkEventLog)));
    assert_eq!(of("trace/history-0.20.txt"), Some(FileKind::Log(Format::HadoopText)));
    assert_eq!(of("diagnose/job/worker3.mpstat.txt"), Some(FileKind::Samples));
    assert_eq!(of("diagnose/job/nodes.sadf.csv"), Some(FileKind::Samples));
    assert_eq!(of("no such file"), None);
}

/// The message states the kind of the file.
#[test]
fn a_command_says_what_a_file_of_another_kind_is() {
    let samples = unbroken(&shown(&["tool", "fit", "tests/data/diagnose/job/worker3.mpstat.txt"]));
    assert!(
        samples.starts_with("exit 3") && samples.contains("is samples of sysstat, which `tailspn tool fit`"),
        "{samples}"
    );
    let log = unbroken(&shown(&["net", "simulate", "tests/data/trace/sort-32mb.spark.gz"]));
    assert!(log.contains("is a Spark event log, which `tailspn net simulate` does not accept"), "{log}");
}
