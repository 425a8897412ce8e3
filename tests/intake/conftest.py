"""An admin of the project, and files that are uploaded and checked."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.intake.run_import import run_import
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import Prefix, parse
from apps.tenants.models import Project
from tests.conftest import MakeClient
from tests.intake.import_steps import Upload


@pytest.fixture
def admin(project: Project, client_of: MakeClient) -> APIClient:
    return client_of(project, Scope.ADMIN)


@pytest.fixture
def upload(admin: APIClient) -> Upload:
    """Upload a file, check it, and return the import."""

    def make(content: bytes, **body: Any) -> dict[str, Any]:
        made = admin.post("/v1/imports", {"file_name": "file.json", **body})
        assert made.status_code == 201, made.json()
        url = f"/v1/imports/{made.json()['id']}"
        sent = admin.put(f"{url}/file", content, content_type="application/octet-stream")
        assert sent.status_code == 200, sent.json()
        run_import(import_id=parse(Prefix.IMPORT, made.json()["id"]))
        return dict(admin.get(url).json())

    return make
