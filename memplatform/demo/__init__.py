"""The demo: a whole memory server on a sample conversation, as its own client sees it over HTTP."""
