"""Names of medicines and conditions come from two packages, and are kept for later processes."""

from functools import cache
from pathlib import Path

import pytest

from apps.pipeline.lexicon import medical_names

CHOSEN = cache(medical_names._chosen)  # to read the packages takes most of a second


@pytest.fixture(autouse=True)
def read_anew(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(medical_names, "kept_file", lambda: tmp_path / "share" / "names.txt")
    monkeypatch.setattr(medical_names, "_names", medical_names._names.__wrapped__)
    monkeypatch.setattr(medical_names, "_chosen", CHOSEN)


def test_names_are_the_same_read_from_the_packages_and_from_the_kept_file() -> None:
    chosen = medical_names._names()
    assert medical_names.kept_file().is_file()
    assert medical_names._names() == chosen
    medicines, conditions = chosen
    assert {"ramipril", "metformin"} <= medicines
    assert {"asthma", "irritable bowel syndrome"} <= conditions
    assert not {"water", "always"} & medicines


def test_without_a_folder_that_may_be_written_they_are_read_all_the_same() -> None:
    medical_names.kept_file().parent.write_text("no folder")
    assert medical_names.is_medicine("Ramipril")


def test_half_a_file_is_not_believed() -> None:
    medical_names.kept_file().parent.mkdir()
    medical_names.kept_file().write_text("ramipril")
    assert medical_names.condition_length(["asthma"]) == 1
