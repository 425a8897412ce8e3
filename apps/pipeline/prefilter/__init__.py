"""The pre-filter: folding, rules and their patterns, and shapes of texts that are no statements."""
