"""Projects and keys, from code and from the command line."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.common.errors import Unfit
from apps.pipeline.core.enums import Scope
from apps.projects.api_keys import create_key
from apps.projects.services import create_project
from apps.tenants import keys
from apps.tenants.models import ApiKey, Project
from apps.traces.models import ConfigurationVersion


def test_a_project_begins_with_the_default_rules(project: Project) -> None:
    policy = ConfigurationVersion.objects.get(project=project, is_active=True).as_policy()

    assert len(policy.pre_filter.rules) >= 60


@pytest.mark.parametrize(("name", "slug"), [("", "a"), ("A", ""), ("A", "no slug"), ("A" * 121, "a"), ("A", "a" * 65)])
@pytest.mark.django_db
def test_names_that_are_refused(name: str, slug: str) -> None:
    with pytest.raises(Unfit):
        create_project(name=name, slug=slug)
    assert not Project.objects.exists()


def test_of_a_key_only_prefix_and_hash_are_kept(project: Project) -> None:
    made = create_key(project_id=project.id, name="agent", scopes=[Scope.WRITE, Scope.READ])

    row = ApiKey.objects.get()
    assert made.text.startswith(f"mp_{row.prefix}_")
    assert row.hash == keys.hash_of(made.text)
    assert made.text not in str(ApiKey.objects.values().get())
    assert row.scopes == ["read", "write"]
    known = keys.recognise(made.text)
    assert known is not None
    assert (known.id, known.project_id, set(known.scopes)) == (row.id, project.id, {Scope.READ, Scope.WRITE})
    assert keys.recognise(made.text.replace(row.prefix, "0" * 12)) is None


@pytest.mark.django_db
def test_from_the_command_line() -> None:
    said = StringIO()
    call_command("createproject", "My Agents", stdout=said)
    assert said.getvalue() == "my-agents\n"

    said = StringIO()
    call_command("createkey", "my-agents", "--scope", "admin", "--days", "7", stdout=said)
    known = keys.recognise(said.getvalue().strip())
    assert known is not None
    key = ApiKey.objects.get(id=known.id)
    assert key.scopes == ["admin"]
    assert key.expires_at is not None
    assert timedelta(days=6) < key.expires_at - timezone.now() < timedelta(days=8)


@pytest.mark.parametrize(
    "command",
    [
        ("createproject", ""),
        ("createproject", "Test"),
        ("createkey", "nowhere"),
        ("createkey", "test", "--days", "0"),
        ("createkey", "test", "--scope", "root"),
        ("createkey", "test", "--name", ""),
    ],
)
def test_commands_that_are_refused(project: Project, command: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        call_command(*command)
    assert (Project.objects.count(), ApiKey.objects.count()) == (1, 0)
