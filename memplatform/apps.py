from django.apps import AppConfig


class MemplatformConfig(AppConfig):
    """The project itself: its system checks and commands."""

    name = "memplatform"
    label = "memplatform"

    def ready(self) -> None:
        """Register the system checks, and what a forked process lets go of."""
        from memplatform import checks, model_checks, pools  # noqa: F401  (they need loaded settings)

        pools.forget_after_fork()
