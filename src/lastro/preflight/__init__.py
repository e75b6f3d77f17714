"""What a machine must prove before it is trusted with hours of work."""
