"""End users of tests of the worker, and a model that fails when it is told to."""

from dataclasses import replace

import pytest

from apps.memories.live_ports import live
from apps.pipeline.core.ports import Ports
from apps.tenants.models import Project
from tests.worker.flaky_model import MODEL, FlakyModel
from tests.worker.worker_helper import Person


@pytest.fixture
def model(settings: object) -> FlakyModel:
    """The model of all projects."""
    settings.MODEL = MODEL  # type: ignore[attr-defined]
    return FlakyModel()


@pytest.fixture
def ports(model: FlakyModel) -> Ports:
    """Ports of live operation with that model."""
    return replace(live(), model=model)


@pytest.fixture
def ana(project: Project) -> Person:
    return Person(project)
