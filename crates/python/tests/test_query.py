"""Questions in the syntax of PRISM against closed forms."""

from __future__ import annotations

import math
import pathlib

import pytest
import tailspn


def queue() -> tailspn.Net:
    """A queue of at most 5: arrivals at 2 /s, service at 3 /s."""
    return (
        tailspn.NetBuilder("mm15")
        .place("queue", capacity=5)
        .timed("arrive", 2.0).timed("serve", 3.0)
        .output("arrive", "queue").input("queue", "serve")
        .build()
    )


def test_several_formulas_share_the_states_and_have_their_closed_forms() -> None:
    result = queue().query("S=? [ #(queue) = 5 ]", "R{#(queue)}=? [ S ]", "R{firings(serve)}=? [ S ]")
    # p_n = rho^n (1 - rho) / (1 - rho^6), rho = 2/3
    values = [row.value for row in result.queries]
    assert values == pytest.approx([32 / 665, 946 / 665, 2 * (1 - 32 / 665)], abs=1e-12)
    assert result.states == 6 and result.exit_code == 0


def test_times_of_an_exponential_task_have_their_closed_forms() -> None:
    net = tailspn.NetBuilder("task").place("todo", 1).timed("task", 0.5).input("todo", "task").build()
    result = net.query("P=? [ F<=3 #(todo) = 0 ]", "P=? [ G<=3 #(todo) = 1 ]", "R=? [ F #(todo) = 0 ]", "R{#(todo)}=? [ I=3 ]")
    left = math.exp(-1.5)
    assert [row.value for row in result.queries] == pytest.approx([1 - left, left, 2.0, left], abs=1e-10)


def test_bounds_have_verdicts_and_the_exit_code_of_the_command() -> None:
    result = queue().query("S<0.05 [ #(queue) = 5 ]", "S<0.01 [ #(queue) = 5 ]")
    assert [row.holds for row in result.queries] == [True, False]
    assert result.exit_code == 8


def test_a_file_of_formulas_is_read(tmp_path: pathlib.Path, root: pathlib.Path) -> None:
    questions = tmp_path / "questions.txt"
    questions.write_text("// of the long run\nS=? [ #(queue) = 5 ]\nR{#(queue)}=? [ S ]\n")
    result = tailspn.query(root / "models/textbook/mm1k.xml", "P=? [ F<=1 #(queue) = 1 ]", file=questions)
    assert [row.query[0] for row in result.queries] == ["P", "S", "R"]
    assert result.queries[1].value == pytest.approx(32 / 665, abs=1e-12)


def test_mistakes_in_formulas_have_their_places() -> None:
    with pytest.raises(tailspn.UsageError) as caught:
        queue().query("P=? [ F<=1 #(nowhere) = 1 ]")
    assert "nowhere" in str(caught.value) and caught.value.column is not None


def test_a_rare_event_agrees_with_its_closed_form() -> None:
    builder = tailspn.NetBuilder("queue").place("queue", 1).timed("come", 1.0).timed("go", 2.0)
    net = builder.output("come", "queue").input("queue", "go").build()
    found = net.rare(until="#(queue) >= 30", avoid="#(queue) == 0", effort=1000, batches=16)
    exact = 1 / (2**30 - 1)
    assert abs(found.probability.value / exact - 1) < 5 * found.relative_error
    with pytest.raises(tailspn.UsageError, match="needs a limit"):
        net.rare(until="#(queue) >= 30")


def test_the_long_run_of_a_net_with_two_ends_is_the_mean_over_its_runs() -> None:
    net = (
        tailspn.NetBuilder("ends")
        .place("start", 1).place("left").place("right").place("back")
        .immediate("to left", 3).immediate("to right", 5).timed("go", 1.0).timed("return", 3.0)
        .input("start", "to left").output("to left", "left")
        .input("start", "to right").output("to right", "right")
        .input("right", "go").output("go", "back").input("back", "return").output("return", "right")
        .build()
    )
    exact = {"start": 0.0, "left": 3 / 8, "right": 5 / 8 * 3 / 4, "back": 5 / 8 / 4}
    asked = net.query(*(f"S=? [ #({place}) = 1 ]" for place in exact))
    assert [row.value for row in asked.queries] == pytest.approx(list(exact.values()), abs=1e-12)
    solved = {row.name: row.value for row in net.solve(steady=True).steady.tokens}
    assert solved == pytest.approx(exact, abs=1e-12)
    run = net.simulate(steady=True, tokens=True, method="simulate", steady_runs=200, seed=1)
    for row in run.tokens:
        if row.name != "start":
            assert abs(row.value - exact[row.name]) < row.high - row.low < 0.2
