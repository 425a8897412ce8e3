from django.apps import AppConfig


class TracesConfig(AppConfig):
    """Record of the write pipeline: turns, sessions, traces, spans, model calls, configuration versions."""

    name = "apps.traces"
    verbose_name = "Traces"
