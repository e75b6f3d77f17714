"""`lastro export`."""

from __future__ import annotations

from pathlib import Path

import click

from lastro.cli.options import DEFAULT_FILE, as_json_option, command, option
from lastro.cli.render import print_json
from lastro.errors import NotProven, UsageError
from lastro.export.targets import Difference, Export, compare, make_export, write_export
from lastro.locale import _
from lastro.spec.load import load_campaign


@command()
@click.argument("target", metavar="TARGET")
@option(
    "--campaign",
    "campaign_file",
    type=click.Path(path_type=Path),
    default=DEFAULT_FILE,
    show_default=True,
    help="The campaign file.",
)
@option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for the files. By itself export/TARGET beside the campaign file.",
)
@option("--check", is_flag=True, help="Write nothing; compare what is there with what would be written.")
@option("--strict", is_flag=True, help="Fail where a version cannot be pinned; by itself it is told.")
@option("--force", is_flag=True, help="Overwrite files that were edited by hand.")
@as_json_option
@click.pass_context
def export(
    ctx: click.Context,
    /,
    target: str,
    campaign_file: Path,
    out: Path | None,
    check: bool,
    strict: bool,
    force: bool,
    as_json: bool,
) -> None:
    """Write files that start the campaign without lastro: slurm, skypilot, container or shell.

    They are made from the campaign file and lastro.lock, live in the repository, and say at their head what
    they pin, what belongs to one provider, and what is lost without lastro. The same campaign makes the same
    bytes, so --check finds one that is out of date (code 11). Nothing is rented or started.

    \b
    Example:
      lastro export shell
      lastro export slurm --check
      lastro export container --out deploy --strict
    """
    if check and force:
        raise UsageError(
            _("--check writes nothing, so there is nothing to overwrite"), hint=_("leave --force out")
        )
    made = make_export(load_campaign(campaign_file), target, out, strict=strict)
    differences = compare(made) if check else ()
    written = () if check else write_export(made, force=force)
    code = NotProven.exit_code if differences else 0
    if as_json:
        print_json(_told(made, differences, written, code))
    else:
        _show(made, differences, written, check=check)
    ctx.exit(code)


def _told(
    made: Export, differences: tuple[Difference, ...], written: tuple[Path, ...], code: int
) -> dict[str, object]:
    recipe = made.recipe
    return {
        "target": made.target,
        "folder": str(made.folder),
        "files": sorted(made.files),
        "written": [path.name for path in written],
        "differences": [
            {"file": one.path.name, "line": one.line, "there": one.there, "made": one.made}
            for one in differences
        ],
        "unpinned": list(recipe.pins.unpinned),
        "parts": [{"what": part.what, "elsewhere": part.elsewhere} for part in recipe.parts],
        "variables": list(recipe.variables),
        "counts_as_code": made.counts_as_code,
        "exit_code": code,
    }


def _show(
    made: Export, differences: tuple[Difference, ...], written: tuple[Path, ...], *, check: bool
) -> None:
    for one in differences:
        click.echo(_difference(one))
    if differences:
        text = _("`lastro export {target}` makes it again")
        click.echo(_("  next: {hint}").format(hint=text.format(target=made.target)))
        return
    if check:
        text = _("{folder} is what the campaign makes")
        click.echo(text.format(folder=_from_here(made.folder)))
        return
    for name in made.files:
        path = made.folder / name
        text = _("written: {path}") if path in written else _("unchanged: {path}")
        click.echo(text.format(path=_from_here(path)))
    if made.recipe.pins.unpinned:
        click.echo(_("not pinned: {names}").format(names=", ".join(made.recipe.pins.unpinned)))
    if made.counts_as_code:
        click.echo(
            _("these files count as code of the runs; in export/{target} they would not").format(
                target=made.target
            )
        )
    if made.recipe.variables:
        click.echo(_("to be set where it runs: {names}").format(names=", ".join(made.recipe.variables)))


def _difference(one: Difference) -> str:
    path = _from_here(one.path)
    if not one.line:
        return _("{path} is not there").format(path=path)
    there, made = (_("(no such line)") if line is None else line.strip() for line in (one.there, one.made))
    return _("{path}:{line} is out of date\n  there is: {there}\n  it would be: {made}").format(
        path=path, line=one.line, there=there, made=made
    )


def _from_here(path: Path) -> Path:
    """Return a path as it is seen from this folder, where it lies below it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
