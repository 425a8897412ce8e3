"""The export of a project is loaded into another."""

import json
from typing import Any

from apps.imports.checking import check_import
from apps.imports.models import FileImport
from apps.imports.services import start_import, upload_import
from apps.imports.transfers.export_project import export_project
from apps.intake.run_import import run_import
from apps.memories.live_ports import live
from apps.outbox import leases
from apps.tenants.models import Project
from apps.worker.process_user import process_user

SAID = [
    "I live in Berlin and I work as a nurse.",
    "My sister Lena lives in Rome.",
    "ok",
    "I moved to Munich in May 2024.",
    "My order is 0192f3a4-1111-7222-8333-444455556666, I like tea.",
]


def rows_of(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines()]


def load(project: Project, content: bytes) -> FileImport:
    held = upload_import(request=FileImport(project_id=project.pk, file_name="project.jsonl"), content=content)
    check_import(import_id=held.pk)
    held.refresh_from_db()
    if held.state == "checked":
        start_import(project_id=project.pk, import_id=held.pk)
        run_import(import_id=held.pk)
        held.refresh_from_db()
    return held


def drain() -> None:
    """Do all work here: threads would not see the transaction of the test."""
    while claimed := leases.claim(limit=10, seconds=60):
        for lease in claimed:
            process_user(lease=lease, ports=live())


def content_of(project: Project) -> bytes:
    return b"".join(export_project(project_id=project.pk))
