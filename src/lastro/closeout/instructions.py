"""How a stranger uses the outputs of a campaign again: a text that lies beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lastro import atomic
from lastro.locale import _
from lastro.paths import CampaignFolder


def reload_instructions(plan: Mapping[str, Any]) -> str:
    """Return the text, from the frozen plan alone: it is there from the first attempt on. Pure."""
    return "\n".join(_lines(plan)) + "\n"


def _lines(plan: Mapping[str, Any]) -> Iterator[str]:
    yield _("How to use the outputs of campaign '{name}' again").format(name=plan["campaign"])
    if plan.get("question"):
        yield str(plan["question"])
    yield ""
    yield _("1. Check that nothing was changed, with the folder that holds plan.json as FOLDER:")
    yield "     lastro close --audit FOLDER"
    yield _("   Without lastro: `files` of close/manifest.json has the SHA-256 of every file.")
    yield ""
    yield _("2. What each run is stands in runs/<run>/config.json, what it delivered in runs/<run>/outputs/:")
    for run in plan["runs"]:
        yield f"     {run['id']}  {run['name']}"
    yield ""
    yield _("3. Unpack the code of a run, and put the inputs beside it:")
    yield f"     tar -xf runs/<run>/code/{plan['code_digest']}.tar -C WORK"
    corpus = plan.get("corpus")
    if corpus:
        yield _("   {path} is the corpus; its digest is {digest}.").format(
            path=f"WORK/{corpus['path']}", digest=corpus["digest"]
        )
        yield _("   It lies on the disk at data/{short}/, beside the folder campaigns/.").format(
            short=corpus["digest"][:16]
        )
    yield ""
    yield _("4. In WORK, with the packages that close/report.json names for the output (`versions`):")
    for item in plan.get("deliverables") or ():
        yield from _deliverable(item)
    decision = plan.get("decision")
    if decision:
        yield ""
        yield _(
            "5. The answer: {metric}, {better} is better, adopted from {margin} over '{over}' on."
        ).format(
            metric=decision["metric"],
            better=decision["better"],
            margin=decision["adopt_margin"],
            over=decision["over"],
        )
        yield _("   It stands with its evidence in close/report.json, under `decision`.")


def _deliverable(item: Mapping[str, Any]) -> Iterator[str]:
    path = f"runs/<run>/outputs/{item['path']}"
    if item.get("reload"):
        command = str(item["reload"]).replace("{path}", path)
        yield f"     LASTRO_OUTPUTS=OUT {command}"
        if item.get("compare"):
            yield _("   writes '{name}' into OUT again, to be compared with what was delivered.").format(
                name=item["compare"]
            )
    else:
        yield f"     {item['name']}: {path}"
    metric = item.get("metric")
    if metric:
        yield _("   {metric} of {path} against {truth}, joined by {key}.").format(
            metric=metric["name"],
            path=path,
            truth=f"WORK/{metric['truth']}",
            key=item.get("key") or _("place"),
        )


def write_instructions(folder: CampaignFolder, plan: Mapping[str, Any]) -> None:
    """Write how the outputs are used again; it is made from the frozen plan, and there from the first on."""
    atomic.make_folder(folder.close)
    atomic.write_text(folder.how_to_reload, reload_instructions(plan))
