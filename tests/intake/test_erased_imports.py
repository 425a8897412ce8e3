"""An erasure while a file of the user is imported: neither waits for the other in a circle, and nothing stays."""

import pytest

from apps.imports.enums import ImportState
from apps.imports.models import FileImport, ImportFile
from apps.imports.readers import files
from apps.imports.services import start_import, upload_import
from apps.intake.accept import Submission, accept
from apps.intake.run_import import run_import
from apps.pipeline.core.enums import Role
from apps.pipeline.core.turn import NewTurn
from apps.privacy.users import erase_user
from apps.projects.services import create_project
from apps.tenants.models import Project
from apps.traces.models import Turn
from tests.intake.import_steps import lines
from tests.outbox.second_connection import Aside
from tests.soak import pauses

pytestmark = pytest.mark.django_db(transaction=True)

MOST_STATEMENTS = 80


@pytest.fixture
def project(transactional_db: None) -> Project:
    return create_project(name="Test", slug="test")


def started(project: Project, user_id: str) -> FileImport:
    """Return an import that waits for a process, of somebody who has said something before."""
    turns = (NewTurn(role=Role.USER, content="I live in Porto."),)
    accept(submission=Submission(project.pk, None, user_id, "sunday", turns))
    content = lines("I live in Lisbon.", "I work as a nurse.", user_id=user_id)
    held = upload_import(request=FileImport(project_id=project.pk, file_name="file.jsonl"), content=content)
    run_import(import_id=held.pk)
    return start_import(project_id=project.pk, import_id=held.pk)


def test_an_import_and_an_erasure_never_wait_for_each_other_in_a_circle(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The import pauses before each of its statements, while the user is erased."""
    monkeypatch.setattr(files, "CHUNK_ENTRIES", 1)
    for place in pauses(MOST_STATEMENTS):
        user_id = f"person {place}"
        held = started(project, user_id)
        importing = Aside(lambda held=held: run_import(import_id=held.pk), pause_before=place).run()
        erasing = Aside(lambda user_id=user_id: erase_user(project_id=project.pk, user_id=user_id)).run()
        assert (importing.end().error, erasing.end().error) == (None, None), importing.statements[place:][:1]

        held.refresh_from_db()
        assert held.state in (ImportState.CANCELLED, ImportState.DONE), held.error
        assert not ImportFile.objects.filter(file_import=held).exists()
        assert not Turn.objects.filter(end_user__external_id=user_id).exists()
        if place >= len(importing.statements):
            return
    raise AssertionError("more statements than anybody should need")
