"""The demo: a complete memory server with a sample conversation, used over HTTP."""
