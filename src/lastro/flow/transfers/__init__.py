"""Pushes and pulls: priced and capped before the first byte, recorded by digest and region."""
