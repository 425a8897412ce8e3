"""Alerts of projects, who is told about them, and the messages sent."""
