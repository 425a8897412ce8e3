from django.apps import AppConfig


class TuningConfig(AppConfig):
    """What changes the rules of a project and shows what a change would do: rules, replays, rollbacks, evaluation."""

    name = "apps.tuning"
