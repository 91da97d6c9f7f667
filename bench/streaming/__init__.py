"""What the measurement of streams is made of."""
