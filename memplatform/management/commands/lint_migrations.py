"""Check that migrations can run beside a working service."""

from typing import Any

from django.apps import apps
from django.core.management.base import BaseCommand, CommandError
from django.db.migrations.loader import MigrationLoader

from memplatform.migration_rules import violations

# Made before there were rules; merged migrations are never edited.
BEFORE = {"alerts": 1, "memories": 29, "outbox": 8, "tenants": 11, "traces": 24, "worker": 8}


class Command(BaseCommand):
    help = "Report migrations that lock or rewrite tables, or mix schema and data; see docs/decisions/migrations.md."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        loader = MigrationLoader(None)
        ours = {config.label for config in apps.get_app_configs() if config.name.startswith("apps.")}
        found = []
        for app, name in sorted(loader.graph.nodes):
            if app in ours and int(name[:4]) > BEFORE.get(app, 0):
                state = loader.project_state((app, name), at_end=False)
                for each in violations(loader.graph.nodes[app, name], state):
                    found.append(f"{app}.{name}: {each.what} ({each.rule}); {each.instead}")
        if found:
            raise CommandError("\n".join(found))
