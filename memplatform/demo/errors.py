"""Errors of the demo."""


class DemoFailed(Exception):
    """The demo failed; the message is shown to the user."""
