"""Many small files as few large ones: POSIX tar shards, an index that is mapped, a manifest of sums."""
