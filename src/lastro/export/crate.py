"""A closed campaign as an RO-Crate of the profile Process Run Crate: https://w3id.org/ro/wfrun/process/0.5.

Each run is an action: its command, code and outputs, when and how it ended. What was copied is read again.
Checkpoints stay behind: they are large, and no part of the answer.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lastro.clock import from_iso
from lastro.errors import StorageError, UsageError
from lastro.journal.views import CampaignView, RunView
from lastro.locale import _
from lastro.paths import CampaignFolder
from lastro.records import dataclass
from lastro.storage.digest import sha256_file

if TYPE_CHECKING:
    from rocrate.rocrate import ROCrate

PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
#: Folders of a run whose files are no record of it.
_LEFT_OUT = ("checkpoints", "seats", "claims")
_FORMATS = {
    ".json": "application/json", ".jsonl": "application/jsonl", ".csv": "text/csv", ".html": "text/html",
    ".yaml": "application/yaml", ".md": "text/markdown", ".txt": "text/plain", ".tar": "application/x-tar",
    ".parquet": "application/vnd.apache.parquet", ".png": "image/png", ".gz": "application/gzip",
}  # fmt: skip
_STATUS = {"completed": "CompletedActionStatus", "failed": "FailedActionStatus"}


@dataclass(frozen=True)
class Crate:
    """What was written: where, and how many files of how many bytes."""

    path: Path
    files: int
    bytes: int


def write_crate(folder: CampaignFolder, campaign: CampaignView, target: Path) -> Crate:
    """Write the crate into a new folder, or a new `.zip`.

    Args:
        folder: of the closed campaign, on its disk.
        campaign: what its journal says.
        target: must not be there yet.

    Raises:
        UsageError: the campaign is not closed, `target` is there, or the library `rocrate` is not installed.
        StorageError: a file of the crate does not read back as it was.
    """
    if campaign.closed is None:
        raise UsageError(
            _("campaign {name} is not closed, so there is nothing final to hand on").format(
                name=campaign.name
            ),
            hint=_("`lastro close` closes it"),
        )
    if target.exists():
        raise UsageError(
            _("{path} is there already; nothing was changed").format(path=target),
            hint=_("name a folder, or a .zip, that is not there"),
        )
    try:
        from rocrate.rocrate import ROCrate
    except ImportError as error:
        raise UsageError(
            _("an RO-Crate is written by the library rocrate, which is not installed"),
            hint=_("pip install 'lastro[crate]'"),
        ) from error
    crate = ROCrate()
    files = _add_files(crate, folder)
    _describe(crate, campaign)
    for run in campaign.runs:
        _add_action(crate, run, campaign, files)
    if target.suffix == ".zip":
        crate.write_zip(target)
    else:
        crate.write(target)
        _read_again(target, files)
    return Crate(target, len(files), sum(int(entity["contentSize"]) for entity in files.values()))


def _paths(folder: CampaignFolder) -> Iterator[Path]:
    for path in sorted(folder.root.rglob("*")):
        inner = path.relative_to(folder.root).parts
        if path.is_file() and not path.is_symlink() and not (inner[0] == "runs" and inner[2] in _LEFT_OUT):
            yield path


def _add_files(crate: ROCrate, folder: CampaignFolder) -> dict[str, Any]:
    found = {}
    for path in _paths(folder):
        name = path.relative_to(folder.root).as_posix()
        about = {"sha256": sha256_file(path), "contentSize": str(path.stat().st_size), "name": path.name}
        if (form := _FORMATS.get(path.suffix)) is not None:
            about["encodingFormat"] = form
        found[name] = crate.add_file(path, dest_path=name, properties=about)
    return found


def _describe(crate: ROCrate, campaign: CampaignView) -> None:
    plan, concluded = campaign.plan or {}, campaign.conclusion
    crate.name = campaign.name
    crate.description = " ".join(
        text for text in (plan.get("question"), concluded.why if concluded else None) if text
    ) or str(campaign.name)
    crate.datePublished = from_iso((campaign.closed or {})["at"])
    # Nobody has told lastro under which licence this may be passed on, and it invents none.
    crate.license = _("No licence was stated.")
    profile = {"@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
    crate.root_dataset["conformsTo"] = _entity(crate, PROFILE, profile)


def _add_action(crate: ROCrate, run: RunView, campaign: CampaignView, files: dict[str, Any]) -> None:
    command = _command(run, campaign)
    inside = f"runs/{run.id}/"
    given = [
        entity
        for name, entity in files.items()
        if name == f"{inside}config.json" or name.startswith(f"{inside}code/")
    ]
    made = [files[name] for path in run.outputs if (name := f"{inside}outputs/{path}") in files]
    program = {"@type": "SoftwareApplication", "name": command}
    about = {
        "@type": "CreateAction",
        "name": run.name,
        "description": run.why or run.status,
        # An action has to have ended one way or the other; whatever did not complete has not succeeded.
        "actionStatus": f"http://schema.org/{_STATUS.get(run.status, 'FailedActionStatus')}",
    }
    if run.attempts:
        about["startTime"] = run.attempts[0].started_at
        if run.attempts[-1].ended_at is not None:
            about["endTime"] = run.attempts[-1].ended_at
    if run.status != "completed" and run.why:
        about["error"] = run.why
    action = _entity(crate, f"#{run.id}", about)
    action["instrument"] = _entity(crate, f"#program-{run.id}", program)
    action["object"], action["result"] = given, made
    crate.root_dataset.append_to("mentions", action)


def _command(run: RunView, campaign: CampaignView) -> str:
    for planned in (campaign.plan or {}).get("runs") or ():
        if planned["id"] == run.id and planned.get("command"):
            command = planned["command"]
            return command if isinstance(command, str) else shlex.join(command)
    return campaign.name


def _entity(crate: ROCrate, name: str, about: dict[str, Any]) -> Any:
    from rocrate.model.contextentity import ContextEntity

    return crate.add(ContextEntity(crate, name, properties=about))


def _read_again(target: Path, files: dict[str, Any]) -> None:
    for name, entity in files.items():
        if sha256_file(target / name) != entity["sha256"]:
            raise StorageError(
                _("{path} was written, but reads back differently").format(path=target / name),
                hint=_("do not trust this disk; remove the folder and write it elsewhere"),
            )
