"""Readers that convert files of other products, and of this one, to turns and memories: one module per format. Pure."""
