"""Claude through the official SDK: cached static prompt, native structured output."""

from functools import partial
from time import perf_counter_ns
from typing import Any

import anthropic
import httpx2
import msgspec

from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest, StopReason, Usage, microseconds_since
from apps.providers.errors import NoAnswer, model_failed, retried
from apps.providers.optional_parameters import OptionalParameter, OptionalParameters
from apps.providers.outbound import guarded_client, timeout_of
from apps.providers.response_body import read_answer, without_thinking
from apps.providers.schemas import sent_schema

_STOPS = {
    "max_tokens": StopReason.TRUNCATED,
    "model_context_window_exceeded": StopReason.TRUNCATED,
    "refusal": StopReason.REFUSED,
}


_Count = int | float | None  # some gateways write 12.0


class _Block(msgspec.Struct):
    type: str = ""
    text: str | None = None


class _Tokens(msgspec.Struct):
    input_tokens: _Count = None
    output_tokens: _Count = None
    cache_read_input_tokens: _Count = None
    cache_creation_input_tokens: _Count = None


class _Message(msgspec.Struct):
    """What is read of an answer: building the SDK's own values took as long as our whole HTTP request."""

    content: list[_Block]
    usage: _Tokens = msgspec.field(default_factory=_Tokens)
    stop_reason: str | None = None


_FAILURES = (anthropic.AnthropicError, NoAnswer)
_DECODER = msgspec.json.Decoder(_Message)


class AnthropicModel:
    """A Claude model; one client per process, shared by its threads."""

    def __init__(self, *, name: str, api_key: str, base_url: str = "", timeout: float, connections: int) -> None:
        self._name, self._key, self._timeout = name, api_key, timeout
        self._optional = OptionalParameters()
        self._client = anthropic.Anthropic(
            api_key=api_key,
            base_url=base_url or "https://api.anthropic.com",
            max_retries=0,
            http_client=guarded_client(timeout=timeout_of(timeout), connections=connections),
        )

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """Answer a request. Raises ModelFailed."""
        started = perf_counter_ns()

        def ask(seconds: float) -> _Message:
            return self._optional.ask(partial(self._send, request, seconds), refusals=(anthropic.BadRequestError,))

        try:
            message = retried(ask, seconds=self._timeout, failures=_FAILURES)
            usage = message.usage
            return ModelAnswer(
                text=without_thinking("".join(block.text or "" for block in message.content if block.type == "text")),
                model=self._name,
                usage=Usage(
                    input=int(usage.input_tokens or 0),
                    cache_read=int(usage.cache_read_input_tokens or 0),
                    cache_write=int(usage.cache_creation_input_tokens or 0),
                    output=int(usage.output_tokens or 0),
                ),
                stop=_STOPS.get(message.stop_reason or "", StopReason.END),
                latency_us=microseconds_since(started),
            )
        except _FAILURES as error:
            raise model_failed(
                error,
                secret=self._key,
                model=self._name,
                is_timeout=isinstance(error, anthropic.APITimeoutError),
                latency_us=microseconds_since(started),
            ) from error

    def _send(self, request: ModelRequest, seconds: float, accepted: frozenset[OptionalParameter]) -> _Message:
        # By the SDK's own request: its method for messages prepares the body and builds the answer, which takes as long
        # as the rest, and has no parameter for the temperature, which the newest models refuse and others accept.
        system = [{"type": "text", "text": request.static, "cache_control": {"type": "ephemeral"}}]
        if request.context:
            system.append({"type": "text", "text": request.context})
        body: dict[str, Any] = {
            "model": self._name,
            "max_tokens": request.max_tokens,
            "system": system,
            "messages": [{"role": "user", "content": request.turns}],
        }
        if OptionalParameter.SCHEMA in accepted:
            body["output_config"] = {"format": {"type": "json_schema", "schema": sent_schema(request.schema)}}
        if request.temperature is not None and OptionalParameter.TEMPERATURE in accepted:
            body["temperature"] = request.temperature
        answer = self._client.post(
            "/v1/messages",
            cast_to=httpx2.Response,
            content=msgspec.json.encode(body),
            options={"timeout": timeout_of(seconds)},
        )
        return read_answer(answer, _DECODER)
