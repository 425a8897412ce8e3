"""A server that reads less than it was sent is noticed, once per model in the log and each time with the answer."""

import json
import logging
from dataclasses import replace

import pytest

from apps.providers import registry
from apps.providers.response_body import is_cut
from benchmarks.model_server import ModelServer, Reply
from tests.providers.model_replies import OTHER, request, script


@pytest.mark.parametrize(
    ("sent", "read", "expected"),
    [
        (5_000, 5_000, False),
        (5_000, 6_200, False),
        (5_000, 4_300, False),  # a tokenizer that packs more into a token
        (5_000, 3_700, True),
        (4_600, 4_096, True),  # a full window
        (4_600, 4_095, True),
        (4_000, 4_096, False),
        (5_000, 0, False),  # not counted by the server
    ],
)
def test_far_fewer_tokens_than_were_sent_are_a_cut_prompt(sent: int, read: int, expected: bool) -> None:
    assert is_cut(sent=sent, read=read) is expected


def test_a_cut_prompt_is_logged_once_and_counted(model_server: ModelServer, caplog: pytest.LogCaptureFixture) -> None:
    message = {"role": "assistant", "content": "{}"}
    body = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [{"index": 0}]}
    body["choices"] = [{"index": 0, "message": message, "finish_reason": "stop"}]
    body["usage"] = {"prompt_tokens": 2_048, "completion_tokens": 1, "total_tokens": 2_049}
    script(model_server, Reply(raw=json.dumps(body).encode()))
    with caplog.at_level(logging.WARNING):
        answers = [registry.PricedModels().complete(replace(request(OTHER), model="openai:cut")) for _ in range(3)]
    assert [answer.is_prompt_cut for answer in answers] == [True] * 3
    assert [record.getMessage().count("openai:cut") for record in caplog.records] == [1]


def test_a_prompt_that_was_read_whole_is_not_reported(
    model_server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        answer = registry.PricedModels().complete(request(OTHER))
    assert not answer.is_prompt_cut
    assert not caplog.records
