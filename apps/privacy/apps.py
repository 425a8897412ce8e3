from django.apps import AppConfig


class PrivacyConfig(AppConfig):
    """Erasure, retention, export of one end user, redaction of what is stored."""

    name = "apps.privacy"
