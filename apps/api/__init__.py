"""The REST API, used by agents."""
