"""A process that may not migrate waits for another one that does."""

import pytest
from django.core.management import CommandError, call_command
from django.db.migrations.recorder import MigrationRecorder

from apps.tenants.scope import OWNER, entered

pytestmark = pytest.mark.django_db


def test_it_ends_when_the_database_is_migrated() -> None:
    call_command("wait_until_migrated", seconds=0)


def test_it_fails_when_the_time_is_up() -> None:
    with entered(OWNER):
        MigrationRecorder.Migration.objects.filter(app="traces").delete()
    with pytest.raises(CommandError, match="not migrated"):
        call_command("wait_until_migrated", seconds=0)
