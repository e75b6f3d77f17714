"""Bytes that survive: manifests, snapshots, digests."""
