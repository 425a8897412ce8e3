"""Copies of a draft."""

from uuid import UUID

import pytest

from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.policy import Policy

REQUEST = Request(
    trace_id=UUID(int=1),
    origin=Origin(UUID(int=2), end_user_id=UUID(int=3), session_id=UUID(int=4)),
    turns=(),
    earlier_turns=(),
)


def test_a_copy_has_the_changes_and_leaves_the_draft_as_it_is() -> None:
    draft = Draft.start(request=REQUEST, policy=Policy())

    evolved = draft.evolve(failure="no model", details={"judged": 2})

    assert (evolved.failure, evolved.details, evolved.request) == ("no model", {"judged": 2}, REQUEST)
    assert draft == Draft.start(request=REQUEST, policy=Policy())


def test_a_field_that_a_draft_has_not_is_refused() -> None:
    with pytest.raises(TypeError, match="failed"):
        Draft.start(request=REQUEST, policy=Policy()).evolve(failed=True)
