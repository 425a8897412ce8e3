"""What tests of the cache share."""

ROME, BOAT = "Ana lives in Rome.", "Ana has a green boat."
