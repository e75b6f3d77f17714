"""Arguments and options that several commands share, so that they are spelled the same everywhere."""

from __future__ import annotations

from pathlib import Path

import click

DEFAULT_FILE = Path("campaign.yaml")

campaign_argument = click.argument(
    "campaign_file", type=click.Path(path_type=Path), default=DEFAULT_FILE, metavar="[CAMPAIGN]"
)
campaign_option = click.option(
    "--campaign",
    "campaign_file",
    type=click.Path(path_type=Path),
    default=DEFAULT_FILE,
    show_default=True,
    help="The campaign file; without one here, the campaign that was used last.",
)
disk_option = click.option(
    "--disk",
    type=click.Path(path_type=Path, file_okay=False),
    help="The persistent disk. Wins over the campaign file.",
)
as_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
