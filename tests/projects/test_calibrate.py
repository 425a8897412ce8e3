"""Calibrating writes the band into a new configuration version, or changes nothing."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.projects.services import create_project
from apps.traces.models import ConfigurationVersion

pytestmark = pytest.mark.django_db
PAIRS = [
    {"one": "User likes tea.", "two": "User really likes tea.", "label": "paraphrase"},
    {"one": "User likes tea.", "two": "User likes tea a lot.", "label": "paraphrase"},
    {"one": "User has 2 cats.", "two": "User has 3 cats.", "label": "near_miss"},
    {"one": "User has 2 cats.", "two": "User sings in a choir.", "label": "unrelated"},
]


def written(folder: Path, *lines: str) -> Path:
    file = folder / "pairs.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    return file


def test_a_new_version_holds_the_band(tmp_path: Path) -> None:
    project = create_project(name="Tea", slug="tea")
    output = StringIO()
    call_command("calibrate", "tea", pairs=written(tmp_path, *map(json.dumps, PAIRS)), stdout=output)
    report = json.loads(output.getvalue())
    active = ConfigurationVersion.objects.get(project=project, is_active=True)
    assert active.number == 2
    assert "pairs.jsonl" in active.note
    assert active.as_policy().dedupe.band(embedder=report["embedder"]).model_dump() == report["band"]
    assert report["merged_wrongly"] == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "line 1: Invalid JSON"),
        ("[]", "line 1: Input should be an object"),
        ('{"one": "a"}', "line 1: Field required"),
    ],
)
def test_a_bad_file_changes_nothing(tmp_path: Path, line: str, message: str) -> None:
    project = create_project(name="Tea", slug="tea")
    with pytest.raises(CommandError, match=message):
        call_command("calibrate", "tea", pairs=written(tmp_path, line))
    assert ConfigurationVersion.objects.filter(project=project).count() == 1


def test_an_unknown_project_or_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="there is no project"):
        call_command("calibrate", "nobody", pairs=written(tmp_path, json.dumps(PAIRS[0])))
    with pytest.raises(CommandError, match="there is no file"):
        call_command("calibrate", pairs=tmp_path / "absent")
