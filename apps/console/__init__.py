"""The web console and the admin."""
