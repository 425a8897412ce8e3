"""What is sent to a model server: temperature, one system message, the output budget; and the text read back."""

from dataclasses import replace
from typing import Any

import pytest

from apps.pipeline.core.model_calls import ModelFailed, ModelRequest, Purpose
from apps.pipeline.prompts.llm_judge import judge_request
from apps.providers import registry
from benchmarks.model_server import ModelServer, Reply
from tests.providers.model_replies import AT_ONCE, BOTH, CLAUDE, OTHER, request, script

NO_TEMPERATURE = Reply(status=400, error="Unsupported value: 'temperature' does not support 0.0 with this model.")
NO_SCHEMA = Reply(status=400, error="output_config / response_format: json_schema is not supported")


def complete(asked: ModelRequest) -> str:
    return registry.PricedModels().complete(asked).text


def sent(server: ModelServer, name: str) -> list[Any]:
    return [asked.body.get(name) for asked in server.asked]


def with_context(spec: str) -> ModelRequest:
    return replace(request(spec), context="<active_entities>\ne1 | Ana\n</active_entities>")


@BOTH
def test_a_request_may_leave_the_temperature_to_the_server(model_server: ModelServer, spec: str) -> None:
    complete(replace(request(spec), temperature=None))
    assert "temperature" not in model_server.asked[-1].body


@BOTH
def test_a_model_that_refuses_the_temperature_is_asked_without_it(model_server: ModelServer, spec: str) -> None:
    script(model_server, NO_TEMPERATURE, Reply(text="{}"))
    assert [complete(request(spec)) for _ in range(2)] == ["{}", "{}"]
    assert sent(model_server, "temperature") == [0.0, None, None]
    assert all(asked.body.get("output_config") or asked.body.get("response_format") for asked in model_server.asked)


@BOTH
def test_a_model_may_refuse_both_the_temperature_and_the_schema(model_server: ModelServer, spec: str) -> None:
    script(model_server, NO_SCHEMA, NO_TEMPERATURE, Reply(text="{}"))
    assert [complete(request(spec)) for _ in range(2)] == ["{}", "{}"]
    assert sent(model_server, "temperature") == [0.0, 0.0, None, None]


@BOTH
def test_a_parameter_is_left_out_once(model_server: ModelServer, spec: str) -> None:
    script(model_server, NO_TEMPERATURE)
    with pytest.raises(ModelFailed):
        complete(request(spec))
    assert len(model_server.asked) == 2


@BOTH
def test_a_refusal_that_names_nothing_optional_is_not_repeated(model_server: ModelServer, spec: str) -> None:
    script(model_server, Reply(status=400, error="the prompt is too long", headers=AT_ONCE))
    with pytest.raises(ModelFailed):
        complete(request(spec))
    assert len(model_server.asked) == 1


def test_an_openai_compatible_server_gets_one_system_message(model_server: ModelServer) -> None:
    complete(request(OTHER))
    complete(asked := with_context(OTHER))

    alone, joined = (each.body["messages"] for each in model_server.asked)
    assert [message["role"] for message in joined] == ["system", "user"]
    assert alone[0]["content"] == asked.static
    assert joined[0]["content"] == f"{asked.static}\n\n{asked.context}"


def test_claude_keeps_the_cached_block_apart(model_server: ModelServer) -> None:
    complete(asked := with_context(CLAUDE))
    static, context = model_server.asked[-1].body["system"]
    assert (static["text"], "cache_control" in static) == (asked.static, True)
    assert context == {"type": "text", "text": asked.context}


@BOTH
def test_a_judge_has_room_to_think(model_server: ModelServer, spec: str) -> None:
    question = {"statement": "Ana lives in Rome."}
    complete(judge_request(purpose=Purpose.JUDGE_PAIRS, task="Judge.", questions=[question], model=spec))
    (budget,) = sent(model_server, "max_tokens")
    assert budget >= 2_000


@BOTH
@pytest.mark.parametrize(
    ("answered", "text"),
    [
        ('<think>Is it {"a": 1}?</think>\n{"memories": []}', '{"memories": []}'),
        ('<think>One.</think><think>Two.</think>{"memories": []}', '{"memories": []}'),
        ('Perhaps {"a": 1}. No.\n</think>\n{"memories": []}', '{"memories": []}'),  # opened by the server's template
        ("<think>I was cut off in the mid", ""),
        ('{"memories": ["she wrote <think>a</think>"]}', '{"memories": ["she wrote <think>a</think>"]}'),
        ('```json\n{"memories": ["</think>"]}\n```', '```json\n{"memories": ["</think>"]}\n```'),
        ("", ""),
    ],
)
def test_thinking_is_no_part_of_the_answer(model_server: ModelServer, spec: str, answered: str, text: str) -> None:
    script(model_server, Reply(text=answered))
    assert complete(request(spec)) == text
