"""What the codes of the journal are called on screen. JSON keeps the codes."""

from __future__ import annotations

from lastro.locale import _


def run_status(code: str) -> str:
    """Return the word for a run's status."""
    return {
        "waiting": _("waiting"),
        "running": _("running"),
        "interrupted": _("interrupted"),
        "paused": _("paused"),
        "completed": _("completed"),
        "stopped": _("stopped"),
        "failed": _("failed"),
        "superseded": _("superseded"),
    }.get(code, code)


def state(code: str, run: str | None = None) -> str:
    """Return the words for what a campaign has answered, or is doing."""
    return {
        "adopt": _("adopt {name}").format(name=run),
        "keep_control": _("keep the control"),
        "undecided": _("undecided"),
        "stopped": _("stopped"),
        "running": _("running"),
        "waiting": _("waiting"),
        "open": _("not concluded"),
    }.get(code, code)


def attempt_end(code: str | None) -> str:
    """Return the words for why an attempt ended; None is one that goes on."""
    return {
        None: _("still running"),
        "done": _("done"),
        "notice": _("taken away, with notice"),
        "lost": _("machine lost"),
        "asked": _("stopped on request"),
        "stop_rule": _("stop rule"),
        "saved": _("saved, to be run again"),
        "crashed": _("crashed"),
        "killed": _("killed"),
        "fenced": _("fenced"),
        "limit": _("limit reached"),
        "disk_full": _("the disk was full"),
        "disk_gone": _("the disk went away"),
    }.get(code, str(code))


def deliverable_status(code: str, *, awaited: bool = False) -> str:
    """Return the word for a deliverable's status. `awaited`: its run may still produce it."""
    if awaited and code == "missing":
        return _("not yet")
    return {
        "missing": _("missing"),
        "produced": _("produced, not judged"),
        "accepted": _("accepted"),
        "rejected": _("rejected"),
    }.get(code, code)


def reload_level(code: str) -> str:
    """Return in words where an output was reloaded."""
    return {
        "jailed": _("in a jail"),
        "fresh process": _("in a fresh process"),
        "at home": _("at home"),
    }.get(code, code)


def machine_level(code: str, why: str | None = None) -> str:
    """Return in words how far a machine is kept apart. `why`: why not as far as was asked for."""
    word = {"plain": _("not jailed"), "jailed": _("jailed")}.get(code, code)
    return word if why is None else _("{level}, although it was asked for: {why}").format(level=word, why=why)


def machine_state(code: str) -> str:
    """Return the word for a machine's state."""
    return {
        "intended": _("asked for"),
        "queued": _("in the queue"),
        "booting": _("booting"),
        "ready": _("ready"),
        "gone": _("gone"),
    }.get(code, code)


def priority(code: str) -> str:
    """Return the word for a run's priority."""
    return {"required": _("required"), "useful": _("useful"), "exploratory": _("exploratory")}.get(code, code)


def stop_kind(code: str) -> str:
    """Return the words for a stop rule."""
    return {
        "non_finite": _("non-finite value"),
        "floor": _("quality under a floor"),
        "truncated_input": _("truncated input"),
        "no_usable_resume": _("no usable checkpoint to resume from"),
    }.get(code, code)


def lease_kind(code: str) -> str:
    """Return the word for how a machine is paid."""
    return {"lot": _("lot"), "hourly": _("hourly"), "spot": _("spot")}.get(code, code)


def preflight(code: str | None) -> str:
    """Return how a machine's preflight has ended."""
    return {
        "pass": _("passed"),
        "warn": _("passed, with warnings"),
        "fail": _("failed"),
        "no_answer": _("no answer"),
        None: _("none recorded"),
    }.get(code, str(code))


def metric_source(code: str | None) -> str:
    """Return where the value of a metric comes from."""
    return {
        "recomputed": _("recomputed at closing"),
        "rejected": _("output rejected"),
        "unproven": _("output not proven"),
        "logged": _("logged by the job"),
        None: _("not measured"),
    }.get(code, str(code))


def reconciled(code: str) -> str:
    """Return how a line of an invoice stands to the journal."""
    return {
        "matched": _("the same"),
        "differs": _("differs"),
        "invoice_only": _("on the invoice only"),
        "journal_only": _("in the journal only"),
        "unknown": _("not comparable"),
    }.get(code, code)


def drill(code: str) -> str:
    """Return what a drill has answered."""
    return {
        "exact": _("exact"),
        "within_noise": _("within natural noise"),
        "different": _("different"),
        "not_proven": _("not proven"),
    }.get(code, code)


def option_role(code: str) -> str:
    """Return what an option is among the others."""
    return {
        "cheapest": _("cheapest that fits"),
        "rarely late": _("cheapest that is rarely late"),
        "reduced protocol": _("reduced protocol"),
        "one lot": _("one lot"),
        "lots in parallel": _("lots in parallel"),
        "one longer lot": _("one longer lot"),
        "by the hour": _("by the hour"),
        "spot": _("spot"),
        "mixture": _("a mixture"),
        "mixed group": _("one that stays, the others on spot"),
        "cheapest violation": _("comes nearest to fitting"),
    }.get(code, code)


def finding_level(code: str) -> str:
    """Return the word for how much a finding matters."""
    return {"fail": _("impossible"), "warn": _("careful"), "note": _("note")}.get(code, code)


def cost_kind(code: str) -> str:
    """Return what a line of a planned bill is for."""
    return {
        "machine": _("machine"),
        "disk": _("disk"),
        "ingress": _("data in"),
        "egress": _("data out"),
    }.get(code, code)


def lane(code: str | None) -> str:
    """Return the name of a lane of the calendar; None is what holds nothing."""
    if code is None:
        return _("holds nothing")
    kind, gap, number = code.partition(" ")
    return {"person": _("person"), "gpu": _("GPU"), "cpu": _("CPU")}.get(kind, kind) + gap + number
