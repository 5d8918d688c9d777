//! `tailspn solve` as a person sees it.

use crate::cli::{assert_shown, data, shown, tool};

#[test]
fn solve_shows_states_verdicts_and_the_long_run() {
    assert_shown!(shown(&[
        "solve",
        "models/textbook/mm1k.xml",
        "--at",
        "5",
        "--steady",
        "--measure",
        "full=#(queue) >= 5"
    ]));
}

#[test]
fn solve_shows_the_time_to_a_goal() {
    assert_shown!(shown(&["solve", "models/textbook/forkjoin_retry.xml", "--at", "2,5", "--json"]));
    assert_shown!(shown(&["solve", "models/textbook/mm1k.xml", "--goal", "#(queue) >= 5", "--csv"]));
}

#[test]
fn solve_keeps_what_it_found_when_a_limit_ends_it() {
    assert_shown!(shown(&["solve", "models/textbook/kanban.xml", "--max-states", "20"]));
}

#[test]
fn solve_writes_files_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (dot, mtx, prism) = (path("g.dot"), path("g.mtx"), path("g"));
    let all = ["solve", "models/textbook/tandem_blocking.xml", "--export-dot", &dot, "--draw-vanishing"];
    data(&[&all[..], &["--export-mtx", &mtx, "--export-prism", &prism]].concat());
    let files = ["g.dot", "g.mtx", "g.sta", "g.tra", "g.lab"];
    let texts = files.map(|name| format!("--- {name}\n{}", std::fs::read_to_string(path(name)).unwrap()));
    assert_shown!(texts.concat());
    let again = tool(&all).output().unwrap();
    assert_eq!(again.status.code(), Some(7), "an existing file is not replaced");
}
