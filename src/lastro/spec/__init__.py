"""What users write down: the campaign, offers and faults files, each as one frozen, strict model."""
