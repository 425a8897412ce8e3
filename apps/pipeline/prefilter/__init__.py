"""What the first stage knows: folding, patterns, the default rules, and the shapes that are no statements."""
