"""Fill a project of a distributed database with a little of everything, as the owner of its tables.

Run by conftest.py in a process of its own, whose DATABASE_URL is the owner's: rows are added that only others write.
"""

import os

import django

SLUG = "test"
FURTHER_USERS = ("ben", "eve", "kim", "lou", "mia")  # on other servers than the first one's


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memplatform.settings")
    django.setup()
    from django.contrib.auth.models import User

    from apps.actions.projects.create_project import create_project
    from apps.intake.accept import Submission, accept
    from apps.memories.models import Memory, MemoryLink
    from apps.pipeline.core.enums import LinkKind, Role, Status
    from apps.pipeline.core.turn import NewTurn
    from apps.tenants.scope import OWNER, set_default_scope
    from tests.console.filling import do_all, fill

    set_default_scope(OWNER)
    project = create_project(name="Test", slug=SLUG)
    User.objects.create_superuser("chief")
    fill(project)
    for user in FURTHER_USERS:
        for content in (
            "I live in Lisbon.",
            "My sister Marta lives in Porto.",
            "I moved to Braga, I live in Braga now.",
        ):
            turns = (NewTurn(role=Role.USER, content=content),)
            accept(submission=Submission(project.pk, None, user, "monday", turns))
    do_all(project)
    active = Memory.objects.filter(project=project, status=Status.ACTIVE)
    first, second = active.filter(end_user__external_id="ben").order_by("id")[:2]
    owned = {"project": project, "end_user_id": first.end_user_id, "from_memory": first, "to_memory": second}
    MemoryLink.objects.create(**owned, kind=LinkKind.CONTRADICTS)
    active.filter(end_user__external_id="eve").update(status=Status.PENDING_REVIEW)


if __name__ == "__main__":
    main()
