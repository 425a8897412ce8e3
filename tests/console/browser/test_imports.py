"""A file is uploaded in the browser, checked, imported and reported; in the end the agent is told what it says."""

import json
from pathlib import Path
from uuid import UUID

import pytest
from playwright.sync_api import expect

from apps.imports.checking import check_import
from apps.imports.models import FileImport, ImportFile
from apps.intake.run_import import run_import
from apps.tenants.models import Project
from tests.console.browser.conftest import OpenPage
from tests.console.browser.test_replays import agent_of, context_of, works_for

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def node(parent: str | None, *children: str, text: str) -> dict[str, object]:
    content = {"content_type": "text", "parts": [text]}
    message = {"author": {"role": "user"}, "create_time": 1_772_442_000, "content": content}
    return {"parent": parent, "children": children, "message": message}


CHATGPT = [
    {"id": "broken"},
    {
        "id": "c1",
        "current_node": "b",
        "mapping": {"a": node(None, "b", text="I moved to Trieste."), "b": node("a", text="thanks")},
    },
]


def test_a_file_is_brought_in_on_pages_for_everyone_and_the_agent_is_told(
    open_window: OpenPage, full_project: Project, tmp_path: Path
) -> None:
    FileImport.objects.all().delete()
    window, file = open_window(), tmp_path / "conversations.json"
    file.write_text(json.dumps(CHATGPT))

    window.open("imports/")
    window.page.get_by_role("link", name="New import n").click()
    window.page.wait_for_url("**/imports/new/")
    window.assert_for_everyone("imports/new/")
    window.page.locator("[type=file]").set_input_files(file)
    window.page.locator("#id_user").fill("kim")
    window.page.get_by_role("button", name="Upload and check").click()
    expect(window.page.get_by_text("The file is being read")).to_be_visible()
    made = UUID(window.page.url.rstrip("/").rsplit("/", 1)[-1])
    assert ImportFile.objects.count() == 1
    check_import(import_id=made)

    expect(window.page.locator("[data-import-counts]")).to_contain_text("Turns2")
    expect(window.page.get_by_text("1 thanks")).to_be_visible()
    expect(window.page.get_by_text("has no mapping of messages or no id")).to_be_visible()
    window.page.get_by_role("button", name="Start").click()
    expect(window.page.get_by_text("waiting for a worker")).to_be_visible()
    run_import(import_id=made)
    expect(window.page.locator("[data-import-report]")).to_contain_text("Turns2")
    for path in (f"imports/{made}/", "imports/"):
        window.open(path)
        window.assert_for_everyone(path)
    works_for(full_project)

    assert "Trieste" in context_of(agent_of(full_project))
