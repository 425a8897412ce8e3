from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    """What we keep: memories, their history and links, entities and the ledger."""

    name = "apps.memories"
    verbose_name = "What we keep"
