"""The way into a machine for a person: how a terminal here becomes one there, by provider."""
