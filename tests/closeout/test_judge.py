from __future__ import annotations

from lastro.closeout.compare import Comparison
from lastro.closeout.judge import Findings, Recomputed, Verdict, judge, judge_unfinished
from lastro.closeout.promise import Deliverable
from lastro.closeout.reload.command import Reloaded
from lastro.closeout.reload.loader import Opened

MODEL = Deliverable(name="model", path="model")
OPENED = Opened(loader="transformers", level="jailed", versions={"torch": "2"}, seconds=1.5)


def test_what_a_loader_has_proven_is_accepted_with_how_it_was_loaded() -> None:
    opened = Opened(
        loader="peft",
        proof="it says what was recorded",
        level="fresh process",
        level_why="no bwrap",
        seconds=2.0,
    )

    judged = judge("r", MODEL, Findings(digest="d", opened=opened))

    assert (judged.verdict, judged.why) == (Verdict.ACCEPTED, "it says what was recorded")
    assert (judged.loader, judged.level, judged.level_why, judged.seconds) == (
        "peft",
        "fresh process",
        "no bwrap",
        2.0,
    )


def test_what_only_opens_or_was_only_looked_at_is_never_accepted() -> None:
    opens = judge("r", MODEL, Findings(digest="d", opened=OPENED))
    looked = judge(
        "r", MODEL, Findings(digest="d", opened=Opened(loader="torch", weaker="torch is not installed"))
    )
    unknown = judge("r", MODEL, Findings(digest="d"))

    assert {one.verdict for one in (opens, looked, unknown)} == {Verdict.PRODUCED}
    assert opens.level == "jailed"
    assert opens.versions == {"torch": "2"}
    assert looked.why == "it was only looked at: torch is not installed"
    assert "there is no loader for it" in unknown.why


def test_a_command_that_ran_is_how_it_was_loaded_and_one_that_did_not_start_is_not() -> None:
    reloaded = Reloaded(level="jailed", versions={"python": "3"}, seconds=3.0)
    promised = Deliverable(name="model", path="model", reload="x {path}", compare="p")

    ran = judge("r", promised, Findings(opened=OPENED, reloaded=reloaded, comparison=Comparison(rows=2)))
    failed = judge("r", promised, Findings(opened=OPENED, reloaded=Reloaded(problem="not there")))

    assert (ran.loader, ran.seconds) == ("command", 3.0)
    assert ran.why == "reloaded in a jail, it reproduces p: all 2 rows were recomputed"
    assert (failed.verdict, failed.loader) == (Verdict.REJECTED, "transformers")


def test_predictions_bear_the_level_of_the_model_that_reproduced_them() -> None:
    model = Recomputed(
        by="model",
        reloaded=Reloaded(level="fresh process", level_why="no bwrap"),
        comparison=Comparison(rows=1),
    )

    judged = judge(
        "r", Deliverable(name="p", path="p.csv"), Findings(opened=Opened(loader="table"), recomputed=(model,))
    )

    assert (judged.verdict, judged.level, judged.level_why) == (Verdict.ACCEPTED, "fresh process", "no bwrap")


def test_warnings_and_bases_go_with_the_verdict_into_the_event() -> None:
    base = {"name": "org/base", "licence": None}

    facts = judge("r", MODEL, Findings(opened=OPENED, warnings=("no licence",), bases=(base,))).as_facts()

    assert (facts["warnings"], facts["bases"], facts["near"]) == (["no licence"], [base], None)
    assert "sketch" not in facts


def test_a_folder_of_a_run_that_did_not_complete_is_there_when_one_of_its_files_is() -> None:
    def unfinished(*paths: str) -> Verdict:
        return judge_unfinished("r", "failed", "why", MODEL, dict.fromkeys(paths, "0" * 64)).verdict

    assert unfinished("model/config.json") is unfinished("model") is Verdict.PRODUCED
    assert unfinished("models/x", "other") is Verdict.MISSING
