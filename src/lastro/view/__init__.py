"""One view of a campaign, and its faces: the report in one file, the terminal, JSON for programs."""
