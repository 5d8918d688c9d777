//! The screens of the verbs on real files: what they say is a snapshot, and each fits a screen.

use std::path::Path;

use crate::cli::{assert_shown, tool};
use crate::remaining::Log;
use crate::shared::shared;

/// Lines and columns of a screen.
const MOST: [usize; 2] = [30, 80];

/// A folder with copies of real files, by the names of the screens; none without them.
fn folder() -> Option<tempfile::TempDir> {
    let logs = shared("data/logs")?;
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &str, from: &Path| std::fs::copy(from, folder.path().join(name)).map(|_| ()).unwrap();
    let only = |path: &str| {
        let mut files: Vec<_> =
            std::fs::read_dir(logs.join(path)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.file_name().unwrap().to_str().unwrap().starts_with("app-"));
        files.pop().unwrap()
    };
    copy("fan.gz", &logs.join("spark-elastic/fan-48f-4x1-nospec-r0.gz"));
    copy("c2.gz", &only("labelled/phan-4node/c2_nospec"));
    copy("baseline.gz", &only("labelled/bigroots-2node/baseline"));
    copy("io_hog.gz", &only("labelled/bigroots-2node/io_hog"));
    copy("two-kinds.log", Path::new("tests/data/jobs3/fit-two-kinds-of-tasks.log.gz"));
    copy("job.toml", Path::new("models/tutorial/job.toml"));
    copy("sort.tsv", &shared("data/runs-c3o")?.join("sort.tsv"));
    // the values that a small cluster's owner may not know
    let unknown = |line: &&str| {
        let keys =
            ["reduce_output_mb", "spilled_records", "map_cpu_s", "reduce_cpu_s", "to_gpu =", "gpu =", "reduce ="];
        !keys.iter().any(|key| line.starts_with(key)) && !line.starts_with("[model.distribution]")
    };
    let plan = std::fs::read_to_string("models/tutorial/job.toml").unwrap();
    let partial: Vec<&str> = plan.lines().filter(unknown).collect();
    std::fs::write(folder.path().join("partial.toml"), partial.join("\n")).unwrap();
    copy("repair.xml", Path::new("models/textbook/machine_repair.xml"));
    std::fs::write(folder.path().join("app.inprogress"), Log::read(&folder.path().join("fan.gz")).cut(0.5).text)
        .unwrap();
    std::os::unix::fs::symlink(logs.join("labelled/bigroots-2node"), folder.path().join("hogs")).unwrap();
    Some(folder)
}

/// Returns what a command prints, and the exit code if it is not 0.
fn screen(folder: &Path, words: &[&str], most_lines: usize) -> String {
    let output = tool(words).current_dir(folder).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let exit = output.status.code().unwrap();
    assert!(matches!(exit, 0 | 8), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(text.lines().count() <= most_lines, "{words:?}: {} lines\n{text}", text.lines().count());
    // a command to copy stays whole
    let wide = text.lines().find(|line| line.chars().count() > MOST[1] && !line.starts_with("  tailspn "));
    assert!(wide.is_none(), "{words:?}: {wide:?}");
    let exit = if exit == 0 { String::new() } else { format!("[exit {exit}]\n") };
    format!("$ tailspn {}\n{text}{exit}", words.join(" "))
}

macro_rules! screens {
    ($($name:ident: $words:expr;)*) => {$(
        #[test]
        fn $name() {
            let Some(folder) = folder() else { return };
            assert_shown!(screen(folder.path(), &$words, MOST[0]));
        }
    )*};
}

screens! {
    a_table_of_runs: ["estimate", "sort.tsv"];
    a_table_of_runs_and_a_deadline: ["estimate", "sort.tsv", "--only", "machine_type=m4.2xlarge", "--input-size", "30GB", "--workers", "4..16", "--deadline", "5m"];
    a_file_without_a_verb: ["fan.gz"];
    an_estimate_from_a_log: ["estimate", "fan.gz"];
    a_table_of_executors_with_deadline_and_price: [
        "estimate", "fan.gz", "--input-size", "3x", "--executors", "1..32", "--deadline", "2m", "--price", "0.05USD/core-hour"
    ];
    an_own_run_that_is_not_reproduced: ["estimate", "two-kinds.log"];
    a_running_job: ["estimate", "app.inprogress"];
    a_running_job_with_an_earlier_run: ["estimate", "app.inprogress", "fan.gz", "--deadline", "45s"];
    why_a_run_was_slow: ["why", "c2.gz"];
    what_changed_against_another_run: ["why", "io_hog.gz", "baseline.gz"];
    a_folder_of_applications: ["why", "hogs"];
    whether_speculation_would_have_helped: ["whatif", "c2.gz"];
    that_no_policy_helps_on_one_host: ["whatif", "fan.gz"];
    a_plan: ["estimate", "job.toml"];
    which_settings_matter: ["study", "job.toml"];
    which_settings_of_a_logged_job_matter: ["study", "fan.gz"];
    a_net_without_a_verb: ["repair.xml"];
    a_plan_with_values_left_out: ["estimate", "partial.toml"];
    the_end_of_a_watched_run: ["watch", "fan.gz"];
    long_run_values_of_a_net: ["net", "solve", "repair.xml"];
    a_query_about_a_net: ["net", "query", "repair.xml", "P=? [ F<=10 #(critical_up) == 0 ]"];
    a_list_that_the_own_run_forbids: ["estimate", "two-kinds.log", "--executors", "1,2"];
    a_log_of_one_host_and_more_hosts: ["estimate", "fan.gz", "--hosts", "1..3"];
}

/// The order of two runs does not matter.
#[test]
fn the_earlier_run_is_the_reference() {
    let Some(folder) = folder() else { return };
    let answer = |words: &[&str]| {
        let text = screen(folder.path(), words, MOST[0]);
        text.split("\nAssumed").next().unwrap().lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(answer(&["why", "io_hog.gz", "baseline.gz"]), answer(&["why", "baseline.gz", "io_hog.gz"]));
}
