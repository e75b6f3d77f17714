"""Where providers put what outlives a machine: conventions of their images, not proof.

A path means nothing without knowing whose machine this is, so a row counts only where its provider is
recognised. Each row has the day on which its source was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from lastro.locale import _
from lastro.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Convention:
    """What a provider says of a path. `lives`: it outlives the machine. `trap`: what is often mistaken.

    `marks`: environment variables of which one has to be there; `folders`: or one of these folders.
    """

    provider: str
    path: str
    lives: bool
    trap: str
    source: str
    read: str
    marks: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    def is_here(self, environment: Mapping[str, str]) -> bool:
        """Tell whether this is a machine of the provider."""
        return any(mark in environment for mark in self.marks) or any(map(_is_folder, self.folders))


def _is_folder(path: str) -> bool:
    return Path(path).is_dir()


def conventions() -> tuple[Convention, ...]:
    """Return the table; the first row that fits a path counts."""
    return (
        Convention(
            provider="RunPod",
            path="/runpod-volume",
            lives=True,
            trap=_("the network volume of serverless workers"),
            source="docs.runpod.io/storage",
            read="2026-11-30",
            marks=("RUNPOD_POD_ID", "RUNPOD_ENDPOINT_ID"),
        ),
        Convention(
            provider="RunPod",
            path="/workspace",
            lives=False,
            trap=_(
                "a network volume and a volume disk both appear here; the volume disk is deleted with the "
                "pod, and only the console tells which one this is"
            ),
            source="docs.runpod.io/storage",
            read="2026-11-30",
            marks=("RUNPOD_POD_ID",),
        ),
        Convention(
            provider="Vast",
            path="/workspace",
            lives=False,
            trap=_(
                "the container's disk is kept, and billed, while it is stopped, and gone when it is destroyed"
            ),
            source="docs.vast.ai/instances/storage",
            read="2026-11-30",
            marks=("VAST_CONTAINERLABEL", "CONTAINER_ID"),
        ),
        Convention(
            provider="Lambda",
            path="/lambda/nfs",
            lives=True,
            trap=_("a filesystem of one region, attached at launch only, billed until it is deleted"),
            source="docs.lambda.ai/public-cloud/filesystems",
            read="2026-11-30",
            folders=("/lambda/nfs",),
        ),
        Convention(
            provider="Paperspace",
            path="/storage",
            lives=True,
            trap=_("shared by the team"),
            source="docs.digitalocean.com/products/paperspace",
            read="2026-11-30",
            marks=("PAPERSPACE_NOTEBOOK_ID", "PAPERSPACE_NOTEBOOK_REPO_ID"),
        ),
        Convention(
            provider="Colab",
            path="/content/drive",
            lives=True,
            trap=_("written late: flush before the end; folders of thousands of files time out"),
            source="research.google.com/colaboratory/faq.html",
            read="2026-11-30",
            marks=("COLAB_RELEASE_TAG", "COLAB_GPU"),
        ),
        Convention(
            provider="Kaggle",
            path="/kaggle/working",
            lives=False,
            trap=_("20 GB, and kept only by a committed version"),
            source="www.kaggle.com/docs/notebooks",
            read="2026-11-30",
            marks=("KAGGLE_KERNEL_RUN_TYPE",),
        ),
        Convention(
            provider="Azure",
            path="/mnt",
            lives=False,
            trap=_("the resource disk, which is emptied when the machine is moved or stopped"),
            source="learn.microsoft.com/azure/virtual-machines/managed-disks-overview",
            read="2026-11-30",
            folders=("/var/lib/waagent",),
        ),
    )


def convention_of(path: str, environment: Mapping[str, str]) -> Convention | None:
    """Return what this machine's provider says of a path; None where no row fits."""
    for row in conventions():
        below = path == row.path or path.startswith(row.path + "/")
        if below and row.is_here(environment):
            return row
    return None
