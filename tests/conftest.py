"""What all tests share: English texts, whatever the language of who runs them, and no race with a clock."""

from __future__ import annotations

import os

from hypothesis import settings

os.environ["LASTRO_LANG"] = "en"
settings.register_profile("lastro", settings(), deadline=None)
settings.load_profile("lastro")
