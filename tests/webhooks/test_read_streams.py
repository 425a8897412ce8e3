"""Up to where a reader of events has them, while others are numbered."""

import pytest

from apps.events.models import ProjectEvent
from apps.tenants.models import Project
from apps.webhooks.services import EventPosition, read_on


@pytest.mark.parametrize(
    ("numbers", "after", "last", "expected"),
    [
        ([1, 2], 0, 2, 2),
        ([1, 2], 0, 1, 2),  # the second was numbered after the last number had been read: it is not sent twice
        ([1, 2, 3], 0, 9, 3),  # as many as asked for: there may be others
        ([], 4, 9, 9),  # none of the wanted types
        ([], 9, 4, 9),  # a reader that waits for what is yet to come
    ],
)
def test_a_reader_never_goes_back(project: Project, numbers: list[int], after: int, last: int, expected: int) -> None:
    for number in numbers:
        ProjectEvent.objects.create(project=project, type="memory.created", number=number)
    messages, reached = read_on(EventPosition(project.id, after), limit=3, last=last)

    assert ([each["number"] for each in messages], reached) == (numbers, expected)
