"""Go on with an erasure, in short transactions, until nothing is left or the time is up."""

BATCH_ROWS = 1_000  # per transaction, so that none holds its locks for long
