"""What a sentence is, and how it is meant: shared by all extractors."""
