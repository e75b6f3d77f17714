"""Places where machines come from. One file each, one contract (`base`), one list (`registry`)."""
