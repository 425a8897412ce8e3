"""manage.py evaluate."""

import json

import pytest
from django.core.management import CommandError

from apps.memories.models import EvaluationItem
from apps.pipeline.core.enums import LabelValue
from apps.tenants.models import Project
from apps.tuning.evaluation.samples import label_item
from tests.privacy.test_commands import run
from tests.tuning.evaluation.evaluated import told

pytestmark = pytest.mark.django_db


def test_samples_are_drawn_labels_exported_and_figures_printed(project: Project) -> None:
    told(project)
    said = run("evaluate", "draw", "test", "--seed", "7")
    assert "3 of 3 (memory), seed 7" in said
    assert "2 of 2 (turn), seed 7" in said
    item = EvaluationItem.objects.filter(memory__isnull=False)[0]
    label_item(project_id=project.pk, item_id=item.pk, value=LabelValue.GOOD)
    label, end = map(json.loads, run("evaluate", "export", "test").splitlines())
    assert (label["item_id"], label["value"], end) == (item.shown_id, "good", {"kind": "end"})
    figures = json.loads(run("evaluate", "figures", "test"))
    assert (figures["total"]["precision"]["value"], [*figures["versions"]]) == (1.0, ["1"])


@pytest.mark.parametrize("words", [("draw", "test"), ("figures", "test", "--weeks", "0"), ("export", "nobody")])
def test_what_is_impossible_is_told(project: Project, words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        run("evaluate", *words)
