"""Offers looked at and made: which file, what to show of it, and files made from public catalogues."""
