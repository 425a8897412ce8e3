"""The store of LangGraph says which namespace it can't keep, before anything is sent."""

from typing import Any

import pytest

from memplatform_client.langgraph import MemplatformStore
from scripted import scripted


@pytest.mark.parametrize("user_of", [lambda namespace: namespace[1], lambda namespace: 7])
def test_a_namespace_without_its_end_user_is_named(user_of: Any) -> None:
    client, server = scripted()
    with pytest.raises(ValueError, match=r"namespace \('facts',\).*user_of must return the end user"):
        MemplatformStore(client, user_of=user_of).put(("facts",), "home", {"text": "Lyon"})
    assert server.requests == []


def test_a_namespace_of_nobody_is_kept() -> None:
    client, server = scripted((200, {"results": [{"item": None}]}))
    MemplatformStore(client, user_of=lambda _: None).put(("facts",), "home", {"text": "Lyon"})
    assert server.bodies()[0]["operations"][0]["user_id"] is None
