"""What of value lies where it would be lost: found by a complete scan, ranked, and rescued or let go."""
