"""Calibrate the bands of dedupe on labelled pairs, in a new configuration version."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import transaction

from apps.actions.errors import NotFound, Unfit
from apps.actions.projects import configure
from apps.pipeline.core.input_validation import BadInput
from apps.pipeline.core.ports import Embedder
from apps.pipeline.deduplication.calibration import Calibrated, read_pairs, score_pairs
from apps.pipeline.deduplication.calibration import calibrate as find_band
from apps.tenants.models import Project
from apps.traces.policies import active_policy


def calibrate(*, project_id: UUID, file: Path, embedder: Embedder) -> Calibrated:
    """Find the embedder's band from a file of pairs, one JSON object per line, and save it in the project's policy.

    Returns the band with its results on the pairs. Raises Unfit for an unusable file, NotFound for an unknown project;
    the configuration stays unchanged then.
    """
    try:
        found = find_band(score_pairs(pairs=read_pairs(_lines(file)), embedder=embedder))
    except BadInput as bad:
        raise Unfit(f"{bad.at}: {bad}") from bad
    except ValueError as unfit:
        raise Unfit(str(unfit)) from unfit
    with transaction.atomic():
        if not Project.objects.select_for_update().filter(id=project_id).exists():
            raise NotFound("there is no such project")
        policy = active_policy(project_id=project_id)
        dedupe = policy.dedupe.model_copy(update={"bands": {**policy.dedupe.bands, embedder.name: found.band}})
        note = f"band of {embedder.name} calibrated on {file.name}"[:255]
        configure(project_id=project_id, policy=policy.model_copy(update={"dedupe": dedupe}), note=note)
    return found


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            read = json.loads(line)
        except ValueError as error:
            raise BadInput("is not JSON", at=f"line {number}") from error
        if not isinstance(read, dict):
            raise BadInput("is not a JSON object", at=f"line {number}")
        yield read
