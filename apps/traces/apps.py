from django.apps import AppConfig


class TracesConfig(AppConfig):
    """What happened: turns, sessions, traces, spans, model calls, configuration versions."""

    name = "apps.traces"
    verbose_name = "What happened"
