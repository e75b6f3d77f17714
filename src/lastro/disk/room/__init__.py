"""What the disk's room is used for, when it will be full, and what can go."""
