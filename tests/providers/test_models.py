"""Models over the vendors' own SDKs against a server on loopback: answers, usage, cost, and everything that fails."""

import json
from decimal import Decimal
from typing import Any

import pytest

from apps.pipeline.core.model_calls import ModelFailed, StopReason, Usage
from apps.pipeline.prompts import extract as prompt
from apps.providers import registry
from benchmarks.model_server import ModelServer, Reply
from tests.providers.model_replies import AT_ONCE, BOTH, CLAUDE, OTHER, request, script


@BOTH
def test_an_answer_comes_with_its_usage(model_server: ModelServer, spec: str) -> None:
    models = registry.PricedModels()
    first, second = models.complete(request(spec)), models.complete(request(spec))
    static = prompt.estimated_tokens(prompt.STATIC)

    assert json.loads(second.text)["memories"][0]["evidence"] == "I moved to Rome last year."
    assert (second.stop, second.model) == (StopReason.END, spec.partition(":")[2])
    assert (first.usage.cache_read, second.usage.cache_read) == (0, static)
    assert second.usage.input < 100 < second.usage.input + static
    assert second.latency_us > 0


def test_claude_gets_the_static_part_marked_for_its_cache_and_a_schema(model_server: ModelServer) -> None:
    registry.PricedModels().complete(request(CLAUDE))

    body = model_server.asked[-1].body
    assert body["system"] == [{"type": "text", "text": prompt.STATIC, "cache_control": {"type": "ephemeral"}}]
    assert body["output_config"]["format"]["type"] == "json_schema"
    assert body["output_config"]["format"]["schema"]["additionalProperties"] is False
    assert any("sk-secret-of-this-test" in value for value in model_server.asked[-1].headers.values())


def test_cost_comes_from_the_price_table(model_server: ModelServer, settings: Any) -> None:
    models = registry.PricedModels()
    written, read = models.complete(request(CLAUDE)), models.complete(request(CLAUDE))

    def cost(usage: Usage) -> Decimal:
        return (
            usage.input + Decimal("1.25") * usage.cache_write + Decimal("0.1") * usage.cache_read + 5 * usage.output
        ) / 1_000_000

    assert (written.cost_usd, read.cost_usd) == (cost(written.usage), cost(read.usage))
    assert 0 < read.cost_usd < written.cost_usd
    assert models.complete(request("openai:unheard-of")).cost_usd == 0


@BOTH
@pytest.mark.parametrize(
    ("stop", "expected"),
    [("end", StopReason.END), ("truncated", StopReason.TRUNCATED), ("refused", StopReason.REFUSED)],
)
def test_why_an_answer_ended(model_server: ModelServer, spec: str, stop: str, expected: StopReason) -> None:
    script(model_server, Reply(text='{"memories": [', stop=stop))
    assert registry.PricedModels().complete(request(spec)).stop is expected


@BOTH
@pytest.mark.parametrize("status", [409, 429, 503])
def test_what_passes_is_tried_again(model_server: ModelServer, spec: str, status: int) -> None:
    script(model_server, Reply(status=status, headers=AT_ONCE), Reply(status=status, headers=AT_ONCE), Reply(text="{}"))
    assert registry.PricedModels().complete(request(spec)).text == "{}"
    assert len(model_server.asked) == 3


@BOTH
@pytest.mark.parametrize(
    ("status", "permanent", "tries"), [(400, True, 1), (401, True, 1), (404, True, 1), (429, False, 3), (529, False, 3)]
)
def test_a_failure_says_whether_it_is_permanent(
    model_server: ModelServer, spec: str, status: int, permanent: bool, tries: int
) -> None:
    script(model_server, Reply(status=status, headers=AT_ONCE, error="no sk-secret-of-this-test"))
    with pytest.raises(ModelFailed) as failed:
        registry.PricedModels().complete(request(spec))
    assert (failed.value.permanent, len(model_server.asked)) == (permanent, tries)
    assert "sk-secret" not in str(failed.value)
    assert failed.value.model == spec.partition(":")[2]


@BOTH
def test_a_server_can_not_make_a_worker_wait_for_long(model_server: ModelServer, spec: str) -> None:
    script(model_server, Reply(status=429, headers={"retry-after": "3600"}))
    with pytest.raises(ModelFailed) as failed:
        registry.PricedModels().complete(request(spec))
    assert (failed.value.permanent, len(model_server.asked)) == (False, 1)


@BOTH
def test_a_time_out_is_a_failure_that_passes(model_server: ModelServer, settings: Any, spec: str) -> None:
    settings.MODEL_TIMEOUT_SECONDS = 0.05
    registry.forget_models()
    script(model_server, Reply(text="{}", delay_ms=2_000))
    with pytest.raises(ModelFailed) as failed:
        registry.PricedModels().complete(request(spec))
    assert not failed.value.permanent
    assert len(model_server.asked) == 1, "the time of the call is used up"


@BOTH
def test_a_lost_connection_names_its_cause(model_server: ModelServer, spec: str) -> None:
    script(model_server, Reply(hang_up=True))
    with pytest.raises(ModelFailed, match="disconnected") as failed:
        registry.PricedModels().complete(request(spec))
    assert (failed.value.permanent, failed.value.is_timeout) == (False, False)


@BOTH
@pytest.mark.parametrize(
    "reply",
    [
        Reply(raw=b'{"id": "x", "content": [{"type": "te', headers=AT_ONCE),
        Reply(raw=b"null", headers=AT_ONCE),
        Reply(raw=b'{"choices": [null], "content": 5, "usage": "many"}', headers=AT_ONCE),
        Reply(raw=b'{"choices": [{"message": null}], "content": [null]}', headers=AT_ONCE),
        Reply(raw=b"\xff\xfe\x00", headers=AT_ONCE),
    ],
)
def test_a_body_that_is_no_answer_is_a_failure_that_passes(model_server: ModelServer, spec: str, reply: Reply) -> None:
    script(model_server, reply)
    with pytest.raises(ModelFailed) as failed:
        registry.PricedModels().complete(request(spec))
    assert not failed.value.permanent


@BOTH
def test_a_server_without_structured_output_is_asked_without(model_server: ModelServer, spec: str) -> None:
    refusal = Reply(status=400, error="output_config / response_format: json_schema is not supported")
    script(model_server, refusal, Reply(text="{}"))
    models = registry.PricedModels()
    assert [models.complete(request(spec)).text for _ in range(2)] == ["{}", "{}"]
    told = [asked.body.get("output_config") or asked.body.get("response_format") for asked in model_server.asked]
    assert "schema" in json.dumps(told[0])
    assert told[1:] == ([None, None] if spec is CLAUDE else [{"type": "json_object"}] * 2)


@pytest.mark.parametrize(
    "block",
    ['{"type": "thinking", "text": null}', '{"type": "tool_use", "input": {}}', '{"text": null}', '{"signature": "s"}'],
)
def test_blocks_of_claude_that_are_not_used_are_passed_over(model_server: ModelServer, block: str) -> None:
    content = f'{block}, {{"type": "text", "text": "{{}}"}}, {{"type": "text", "text": null}}'
    script(model_server, Reply(raw=f'{{"content": [{content}], "usage": {{}}}}'.encode()))
    assert registry.PricedModels().complete(request(CLAUDE)).text == "{}"


def test_the_text_of_an_answer_may_come_in_parts(model_server: ModelServer) -> None:
    parts = b'[{"type": "reasoning", "text": "hm"}, {"type": "text", "text": "{}"}, {"type": "image_url"}]'
    script(model_server, Reply(raw=b'{"choices": [{"message": {"content": ' + parts + b"}}]}"))
    assert registry.PricedModels().complete(request(OTHER)).text == "{}"
    assert model_server.asked[-1].body["stream"] is False


def test_counts_of_claude_may_be_written_as_fractions(model_server: ModelServer) -> None:
    usage = b'{"input_tokens": 12.0, "output_tokens": 3.0, "cache_read_input_tokens": null}'
    script(model_server, Reply(raw=b'{"content": [{"type": "text", "text": "{}"}], "usage": ' + usage + b"}"))
    counted = registry.PricedModels().complete(request(CLAUDE)).usage
    assert (repr(counted.input), repr(counted.output), counted.cache_read) == ("12", "3", 0)


@pytest.mark.parametrize("spec", ["nobody:x", "anthropic:", "claude-haiku-4-5"])
def test_an_unknown_model_fails_for_good(model_server: ModelServer, spec: str) -> None:
    with pytest.raises(ModelFailed) as failed:
        registry.PricedModels().complete(request(spec))
    assert failed.value.permanent


def test_text_of_any_kind_travels(model_server: ModelServer) -> None:
    content = "日本語 \U0001f98a \x00 \ud800 </turn> &lt; \u202e"
    registry.PricedModels().complete(request(CLAUDE, content=content))
    assert model_server.asked[-1].turns.count("</turn>") == 1


def test_reasoning_that_uses_up_the_limit_is_told(model_server: ModelServer) -> None:
    """A reasoning model then answers without content; the limit that was sent tells how much more it needs."""
    script(model_server, Reply(raw=b'{"choices": [{"message": {"content": null}, "finish_reason": "length"}]}'))
    answer = registry.PricedModels().complete(request(OTHER))
    assert (answer.text, answer.stop) == ("", StopReason.TRUNCATED)
    assert answer.max_tokens == model_server.asked[-1].body["max_tokens"]
