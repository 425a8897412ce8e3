"""Which alerts of a project to open, keep and resolve, given what was measured, and what they say."""
