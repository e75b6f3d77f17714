"""Which offers file is meant."""

from __future__ import annotations

from pathlib import Path

from lastro.errors import UsageError
from lastro.locale import _
from lastro.spec.load import load_campaign

#: What an offers file is called where nothing says otherwise.
DEFAULT = Path("offers.yaml")
_CAMPAIGN = Path("campaign.yaml")


def offers_file(given: Path | None, folder: Path) -> Path:
    """Return the offers file: the one given, else that of the campaign in `folder`, else its offers.yaml.

    Raises:
        UsageError: there is none.
        CampaignInvalid: the campaign file there cannot be read.
    """
    if given is not None:
        return given
    if (folder / _CAMPAIGN).exists():
        named = load_campaign(folder / _CAMPAIGN).spec.offers
        if named is not None:
            return folder / named
    if (folder / DEFAULT).exists():
        return folder / DEFAULT
    raise UsageError(
        _("no campaign here names an offers file, and there is no {name}").format(name=DEFAULT),
        hint=_("name one, or make one: `lastro offers import --help`"),
    )
