"""The pattern benchmark reads LoCoMo's shape and counts turns rightly, on a conversation written here."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks import patterns
from benchmarks.locomo_data import load

CONVERSATION = {
    "sample_id": "made-up",
    "conversation": {
        "speaker_a": "Ana",
        "speaker_b": "Ben",
        "session_1_date_time": "9:05 am on 3 March, 2025",
        "session_1": [
            {"speaker": "Ana", "dia_id": "D1:1", "text": "I live in Rome."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Thanks!"},
            {"speaker": "Ben", "dia_id": "D1:3", "text": "I'm a nurse."},
            {"speaker": "Ana", "dia_id": "D1:4", "text": "Right.", "blip_caption": "a photo of a boat"},
        ],
    },
    "observation": {
        "session_1_observation": {
            "Ana": [["Ana lives in Rome.", "D1:1"], ["Ana has a boat.", ["D1:4", "D9:9"]]],
            "Ben": [["Ben agrees.", "D1:2, D1:4"]],
        }
    },
    "qa": [{"question": "Where does Ana live?", "answer": "Rome", "category": 4, "evidence": ["D1:1"]}],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "locomo_dev.json").write_text(json.dumps([CONVERSATION]), encoding="utf-8")
    return tmp_path


def test_conversations_are_read_whole(data: Path) -> None:
    (conversation,) = load(data)
    assert [turn.id for turn in conversation.turns] == ["D1:1", "D1:2", "D1:3", "D1:4"]
    assert conversation.turns[0].said_at == datetime(2025, 3, 3, 9, 5, tzinfo=UTC)
    assert conversation.turns[3].caption == "a photo of a boat"
    assert conversation.observed == {"D1:1", "D1:2", "D1:4"}
    assert conversation.questions[0].evidence == ("D1:1",)


def test_turns_are_counted(data: Path) -> None:
    result = patterns.run(data=data)
    assert (result["turn_precision"], result["turn_recall"], result["turn_f1"]) == (0.5, 0.3333, 0.4)
    assert (result["turns"], result["candidates"]) == (4, 2)
    assert (result["idle_turns"], result["gold_idle"]) == (0.5, 0.6667)


def test_missing_data_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        patterns.run(data=tmp_path)
