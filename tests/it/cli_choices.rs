//! One of several jobs: in a log, in a folder, in the subfolders of a folder. Every verb lists them, and `--app` selects one.

use std::path::Path;

use crate::cli::{tool, unwrapped};
use crate::shared::shared;

/// Two jobs in one log of Rumen.
fn two_jobs(folder: &Path) {
    let one = std::fs::read_to_string("tests/data/trace/small.rumen.json").unwrap();
    let id = one.split('"').find(|word| word.starts_with("job_")).unwrap().trim_start_matches("job_");
    let other = one.replace(id, "160000000000_0099");
    std::fs::write(folder.join("two.json"), format!("{one}\n{other}")).unwrap();
}

/// Returns exit code, standard output and standard error, without line breaks.
fn answer(folder: &Path, words: &[&str]) -> (i32, String, String) {
    let output = tool(words).current_dir(folder).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code().unwrap(), out, unwrapped(&err))
}

#[test]
fn a_log_of_several_jobs_has_a_row_for_each() {
    let folder = tempfile::tempdir().unwrap();
    two_jobs(folder.path());
    let ask = |words: &[&str]| answer(folder.path(), words);
    let (code, list, _) = ask(&["why", "two.json"]);
    assert!(code == 0 && list.starts_with("2 runs, ") && list.lines().count() <= 25, "{list}");
    assert!(list.contains("tailspn why two.json --app job_"), "{list}");
    let (code, one, _) = ask(&["why", "two.json", "--app", "job_160000000000_0099"]);
    assert!(code == 0 && !one.contains("2 runs"), "{one}");
    let (code, bare, _) = ask(&["two.json"]);
    assert!(code == 0 && bare.contains("2 jobs") && bare.contains("  job_160000000000_0099\n"), "{bare}");
    assert!(bare.contains("tailspn estimate two.json --app job_"), "{bare}");
    let (code, _, refused) = ask(&["estimate", "two.json"]);
    assert!(
        code == 3 && refused.contains("2 jobs in one log") && refused.contains("select one with --app ID"),
        "{refused}"
    );
}

#[test]
fn subfolders_with_a_log_each_are_listed_and_selected() {
    let Some(logs) = shared("data/logs/labelled/bigroots-2node") else { return };
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(logs, folder.path().join("hogs")).unwrap();
    let ask = |words: &[&str]| answer(folder.path(), words);
    let (code, bare, _) = ask(&["hogs"]);
    assert!(code == 0 && bare.starts_with("hogs: 8 logs.") && bare.contains("  gc\n"), "{bare}");
    let (code, list, _) = ask(&["why", "hogs"]);
    assert!(code == 0 && list.contains("tailspn why hogs --app shuffle_skew"), "{list}");
    let (code, one, err) = ask(&["why", "hogs", "--app", "gc"]);
    // with the samples that lie next to the log
    assert!(code == 0 && one.contains("Of 34.4 s") && !one.contains("no node samples"), "{one}{err}");
    let (code, _, refused) = ask(&["estimate", "hogs"]);
    assert!(code == 3 && refused.contains("not runs of one program") && refused.contains("--app gc,"), "{refused}");
    let (code, estimated, err) = ask(&["estimate", "hogs", "--app", "gc"]);
    assert!(code == 0 && estimated.contains("NEXT run") | estimated.contains("next run"), "{estimated}{err}");
    let (code, _, refused) = ask(&["whatif", "hogs"]);
    assert!(code == 3 && refused.contains("holds 8 logs") && refused.contains("--app ID"), "{refused}");
    let (code, ..) = ask(&["whatif", "hogs", "--app", "baseline"]);
    assert_eq!(code, 0);
    let (code, _, refused) = ask(&["why", "hogs", "--app", "nothing"]);
    assert!(code == 3 && refused.contains("does not contain the application `nothing`"), "{refused}");
}
