"""Files as products let people download them: archives, exports without links to answers, and text of Windows."""

import io
import json
import zipfile

import pytest
from rest_framework.test import APIClient

from tests.imports.readers.read_files import HUMAN, SECONDS, claude, conversation, node
from tests.intake.import_steps import Upload, start

pytestmark = pytest.mark.django_db


def archive(**files: object) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in files.items():
            opened.writestr(name.replace("__", "/") + ".json", json.dumps(content))
    return made.getvalue()


def as_json(*conversations: object) -> bytes:
    return json.dumps(conversations).encode()


def talk(number: int, text: str) -> dict[str, object]:
    return conversation({"m": node(None, [], text=text)}, conversation_id=f"c{number}", current_node="m")


@pytest.mark.parametrize(
    ("content", "turns"),
    [
        (archive(export__conversations=[talk(1, "I live in Rome.")], user={"id": "u"}), 1),
        (archive(**{"conversations-000": [talk(1, "I live in Rome.")], "conversations-001": [talk(2, "I sail.")]}), 2),
        (archive(conversations=[claude(HUMAN)], projects=[]), 1),
    ],
    ids=["chatgpt", "chatgpt in parts", "claude"],
)
def test_an_archive_is_imported_as_it_was_downloaded(
    admin: APIClient, upload: Upload, content: bytes, turns: int
) -> None:
    made = upload(content, file_name="export.zip", user_id="ana")
    assert (made["status"], made["counts"]["turns"]) == ("checked", turns), made
    assert start(admin, made)["done"]["turns"] == turns


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (archive(photos=[]), "no conversations*.json"),
        (archive(conversations=[talk(1, "I sail.")])[:-30], "can't be unpacked"),
    ],
)
def test_an_archive_without_conversations_is_refused_with_the_reason(
    upload: Upload, content: bytes, reason: str
) -> None:
    made = upload(content, file_name="export.zip", user_id="ana")
    assert made["status"] == "failed"
    assert reason in made["error"]


def test_a_conversation_without_children_and_last_node_is_read_by_its_parents(admin: APIClient, upload: Upload) -> None:
    mapping = {
        "root": {"parent": None, "message": None},
        "q": {**node("root", [], text="I live in Rome."), "children": None},
        "a": {**node("q", [], "assistant", "Lovely."), "children": None},
    }
    made = upload(as_json({"id": "c1", "create_time": SECONDS, "mapping": mapping}), user_id="ana")
    assert made["counts"]["turns"] == 2, made


def test_a_conversation_without_a_message_is_a_problem(upload: Upload) -> None:
    made = upload(
        as_json(talk(1, "I sail."), {"id": "c2", "mapping": {"root": {"parent": None, "message": None}}}), user_id="ana"
    )
    assert (made["counts"]["turns"], made["counts"]["problems"]) == (1, 1), made


@pytest.mark.parametrize("space", ["\r\n", "\t", "\n\n  ", "\r\n\t"])
def test_a_chat_in_json_is_read_however_it_is_spaced(upload: Upload, space: str) -> None:
    messages = [{"role": "user", "content": "I live in Rome."}, {"role": "assistant", "content": "Lovely."}]
    content = f"[{space}{f',{space}'.join(map(json.dumps, messages))}{space}]".encode()
    made = upload(content, file_name="chat.json", user_id="ana")
    assert (made["counts"]["turns"], made["counts"]["problems"]) == (2, 0), made
