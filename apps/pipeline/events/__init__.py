"""Events of a project: which ones a change causes, and when a webhook is tried again."""
