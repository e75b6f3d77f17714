"""Is the processor as fast as it was? Work beside a reference in the same run, told apart from its share."""
