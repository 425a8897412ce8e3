"""Why the demo could not show what it has to show."""


class DemoFailed(Exception):
    """The demo ended early; the message is for the person at the keyboard."""
