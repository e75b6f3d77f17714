"""The append-only record of a campaign, in hash-chained streams; everything shown is derived from it."""
