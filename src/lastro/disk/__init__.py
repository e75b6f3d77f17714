"""Where bytes belong: the disk that outlives machines, and what is known of it."""
