"""What a training process imports: where it is, what it saves, what it tells. Loads no torch by itself."""
