"""`lastro export container`: a container file, what it leaves out, and what it starts. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import PurePosixPath

from lastro.export.base_image import Base, base_of
from lastro.export.environment import CONSTRAINTS, constraints, index_of, installs, lastro_of
from lastro.export.head import head, sealed, short_head
from lastro.export.recipe import Recipe
from lastro.export.shell import START, start_script, with_constraints
from lastro.export.start import NO_CODE, no_code
from lastro.spec.want import parse_size

FILE = "Containerfile"
#: Where the code lies in the image.
_CODE = "/code"
#: Brings any release of Python, on any image: https://docs.astral.sh/uv/guides/integration/docker/
_UV = "ghcr.io/astral-sh/uv:0.13.9"


def container(recipe: Recipe) -> dict[str, str]:
    """Return the files, by their names in the folder of the export."""
    given = _keys(recipe) + _shared_memory(recipe) + _corpus(recipe)
    run = f"docker run --rm -v {recipe.name}:/state {given}{recipe.name} RUN"
    use = [
        f"docker build -f {recipe.here}/{FILE} -t {recipe.name} .",
        run,
        f"where RUN is one of: {', '.join(one.name for one in recipe.starts)}",
    ]
    if recipe.pins.uses_gpu:
        use.append("add --gpus all for cards; the host has to have their driver")
    lost = [
        "the volume /state is all that outlives a container; nobody looks whether it outlives the machine"
    ]
    base = base_of(recipe.pins)
    text = (
        head(recipe, "container", "A container file", use, lost)
        + "\n"
        + "\n".join(_lines(recipe, base))
        + "\n"
    )
    files = {
        FILE: sealed(text),
        f"{FILE}.dockerignore": sealed(_ignored(recipe)),
        START: start_script(recipe, "container", "What the image starts", [run], lost),
    }
    return with_constraints(recipe, "container", files)


def _lines(recipe: Recipe, base: Base) -> Iterator[str]:
    yield f"# Built from {base.why}."
    yield f"FROM {base.image}"
    yield 'SHELL ["/bin/sh", "-eu", "-c"]'
    if base.libraries:
        packages = " ".join(base.libraries)
        yield f"RUN apt-get update && apt-get install -y --no-install-recommends {packages} \\"
        yield "    && rm -rf /var/lib/apt/lists/*"
    if recipe.uses_python and not base.has_packages:
        yield from _python(recipe, base)
    yield f"WORKDIR {_CODE}"
    if (index := index_of(recipe)) is not None and recipe.installs:
        yield f"ARG PIP_EXTRA_INDEX_URL={index}"
    if not base.has_packages:
        yield from _installs(recipe)
    yield f"COPY . {_CODE}"
    if recipe.setup is not None:
        # A set-up with keys would be kept in the image's record, so they are lent to this one step.
        lent = "".join(f"--mount=type=secret,id={name} " for name in recipe.variables)
        given = "".join(f'{name}="$(cat /run/secrets/{name})" ' for name in recipe.variables)
        held = f"PIP_CONSTRAINT={_CODE}/{recipe.here}/{CONSTRAINTS} " if constraints(recipe) else ""
        yield f"RUN {lent}{given}{held}sh -c {shlex.quote(_one_line(recipe.setup))}"
    yield "# The environment is there, so the start makes none."
    yield "ENV PREPARED=1 STATE=/state PYTHONUNBUFFERED=1"
    yield f'ENTRYPOINT ["sh", "{_CODE}/{recipe.here}/{START}"]'
    yield f'CMD ["{recipe.starts[0].name}"]'


def _python(recipe: Recipe, base: Base) -> Iterator[str]:
    """Yield what makes the environment, first on PATH."""
    if base.has_python:
        yield "RUN python -m venv /opt/venv"
    else:
        version = recipe.pins.python or "3.12"
        yield f"COPY --from={_UV} /uv /usr/local/bin/uv"
        yield f"RUN uv python install {version} && uv venv --seed --python {version} /opt/venv"
    yield "ENV PATH=/opt/venv/bin:$PATH"


def _installs(recipe: Recipe) -> Iterator[str]:
    """Yield the packages, before the code: a change of the code does not fetch them again."""
    commands = list(installs(recipe, f"{recipe.here}/{CONSTRAINTS}"))
    if not commands:
        return
    if constraints(recipe) is not None:
        yield f"COPY {recipe.here}/{CONSTRAINTS} {recipe.here}/{CONSTRAINTS}"
    requirements = recipe.pins.requirements
    if recipe.setup is None and requirements is not None:
        yield f"COPY {requirements.name} {requirements.name}"
    if recipe.uses_lastro:
        yield f"ARG LASTRO_SOURCE={lastro_of(recipe)}"
    for command in commands:
        yield "RUN " + command.replace(" install", " install --no-cache-dir", 1)


def _ignored(recipe: Recipe) -> str:
    """Return what stays out of the image: what is no code, and the corpus, which is mounted."""
    names = no_code(recipe)
    anywhere = (f"**/{name}" for name in names if name in NO_CODE)
    here = (name for name in names if name not in NO_CODE)
    return (
        short_head(recipe, "container", "What stays out of the image") + "\n".join([*anywhere, *here]) + "\n"
    )


def _keys(recipe: Recipe) -> str:
    return "".join(f"-e {name} " for name in recipe.variables)


def _shared_memory(recipe: Recipe) -> str:
    """Return what the campaign wants of it: by itself a container gets 64 MB, too little for most loaders."""
    wanted = recipe.spec.want.get("shared_memory")
    return f"--shm-size={parse_size(wanted).bytes} " if wanted is not None else ""


def _corpus(recipe: Recipe) -> str:
    if recipe.spec.corpus is None:
        return ""
    path = PurePosixPath(recipe.spec.corpus.path)
    return f'-v "$PWD/{path}:{_CODE}/{path}:ro" '


def _one_line(text: str) -> str:
    """Return a shell's text without line ends, which would end the instruction."""
    return "; ".join(line.strip() for line in text.strip().splitlines() if line.strip())
