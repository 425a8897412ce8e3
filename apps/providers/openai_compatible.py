"""Servers with OpenAI's protocol: OpenAI itself, Gemini's compatible endpoint, vLLM, Ollama."""

from collections.abc import Sequence
from functools import partial
from time import perf_counter_ns
from typing import Annotated, Any

import httpx2
import msgspec

from apps.common.errors import ProviderError
from apps.pipeline.core.chat_messages import message_text
from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest, StopReason, Usage, microseconds_since
from apps.pipeline.core.ports import Vector
from apps.providers.errors import NoAnswer, RequestRefused, model_failed, retried
from apps.providers.optional_parameters import OptionalParameter, OptionalParameters
from apps.providers.outbound import guarded_client, timeout_of
from apps.providers.response_body import raise_for_status, raise_no_answer, read_answer, without_thinking
from apps.providers.schemas import sent_schema

_BATCH = 128  # texts of one embedding call
_FAILURES = (httpx2.HTTPError, NoAnswer)
_STOPS = {"length": StopReason.TRUNCATED, "content_filter": StopReason.REFUSED}


_Count = int | float | None  # some gateways write 12.0


class _Details(msgspec.Struct):
    cached_tokens: _Count = None


class _Tokens(msgspec.Struct):
    prompt_tokens: _Count = None
    completion_tokens: _Count = None
    prompt_tokens_details: _Details | None = None


class _Message(msgspec.Struct):
    content: Any = None  # a text, or a list of parts
    refusal: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Completion(msgspec.Struct):
    """What is read of an answer."""

    choices: Annotated[list[_Choice], msgspec.Meta(min_length=1)]
    usage: _Tokens | None = None


class _Embedding(msgspec.Struct):
    embedding: list[float]
    index: int = 0


class _Embeddings(msgspec.Struct):
    """What is read of an answer with vectors."""

    data: list[_Embedding]


_COMPLETIONS = msgspec.json.Decoder(_Completion)
_EMBEDDINGS = msgspec.json.Decoder(_Embeddings)


class OpenAICompatibleModel:
    """A chat model; one client per process, shared by its threads. Its errors never contain a key marked as secret."""

    def __init__(self, *, name: str, api_key: str, base_url: str = "", timeout: float, connections: int) -> None:
        self._name, self._key, self._timeout = name, api_key, timeout
        self._is_vendor = not base_url
        self._optional = OptionalParameters()
        self._client = client(api_key=api_key, base_url=base_url, timeout=timeout, connections=connections)

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """Answer a request. Raises ModelFailed."""
        started = perf_counter_ns()

        def ask(seconds: float) -> _Completion:
            return self._optional.ask(partial(self._send, request, seconds), refusals=(RequestRefused,))

        try:
            completion = retried(ask, seconds=self._timeout, failures=_FAILURES)
            choice, tokens = completion.choices[0], completion.usage or _Tokens()
            details = tokens.prompt_tokens_details or _Details()
            read, cached = int(tokens.prompt_tokens or 0), int(details.cached_tokens or 0)
            return ModelAnswer(
                text=without_thinking(message_text(choice.message.content)),
                model=self._name,
                usage=Usage(input=max(0, read - cached), cache_read=cached, output=int(tokens.completion_tokens or 0)),
                stop=StopReason.REFUSED
                if choice.message.refusal
                else _STOPS.get(choice.finish_reason or "", StopReason.END),
                latency_us=microseconds_since(started),
            )
        except _FAILURES as error:
            raise model_failed(
                error,
                secret=self._key,
                model=self._name,
                is_timeout=isinstance(error, httpx2.TimeoutException),
                latency_us=microseconds_since(started),
            ) from error

    def _send(self, request: ModelRequest, seconds: float, accepted: frozenset[OptionalParameter]) -> _Completion:
        # One system message, because the chat templates of Gemma and others accept no more. The static part comes
        # first: these servers cache prefixes by themselves.
        system = f"{request.static}\n\n{request.context}" if request.context else request.static
        form: dict[str, Any] = {"type": "json_object"}  # this suffices: the prompt describes the answer as well
        if OptionalParameter.SCHEMA in accepted:
            named = {"name": request.purpose.value, "schema": sent_schema(request.schema), "strict": False}
            form = {"type": "json_schema", "json_schema": named}
        body: dict[str, Any] = {
            "model": self._name,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": request.turns}],
            # OpenAI's newer models require this name of the limit, most compatible servers only know the other one.
            "max_completion_tokens" if self._is_vendor else "max_tokens": request.max_tokens,
            "response_format": form,
            "stream": False,  # some gateways stream unless told otherwise
        }
        if request.temperature is not None and OptionalParameter.TEMPERATURE in accepted:
            body["temperature"] = request.temperature
        response = _post(self._client, "/chat/completions", body, seconds)
        completion = read_answer(response, _COMPLETIONS)
        if completion.choices[0].finish_reason == "error":
            raise_no_answer(response)
        return completion


class OpenAICompatibleEmbedder:
    """An embedding model; its vectors are stored with its name and have `dimension` numbers, as its answers show."""

    def __init__(self, *, name: str, dimension: int, api_key: str, base_url: str, timeout: float) -> None:
        self.name, self.dimension = f"openai:{name}", dimension
        self._model, self._key, self._timeout = name, api_key, timeout
        self._client = client(api_key=api_key, base_url=base_url, timeout=timeout, connections=8)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one unit vector per text; a blank text has the zero vector. Raises ProviderError."""
        wanted = [text for text in texts if text.strip()]
        units: list[Vector] = []
        for first in range(0, len(wanted), _BATCH):
            some = wanted[first : first + _BATCH]
            try:
                answer = retried(partial(self._send, some), seconds=self._timeout, failures=_FAILURES)
            except _FAILURES as error:
                is_timeout = isinstance(error, httpx2.TimeoutException)
                failed = model_failed(error, secret=self._key, model=self._model, is_timeout=is_timeout)
                raise ProviderError(
                    str(failed),
                    kind=failed.kind,
                    retry_after_seconds=failed.retry_after_seconds,
                    is_timeout=failed.is_timeout,
                ) from error
            vectors = [each.embedding for each in sorted(answer.data, key=lambda each: each.index)]
            if len(vectors) != len(some) or any(len(vector) != self.dimension for vector in vectors):
                expected = f"{self.dimension} numbers a text"
                raise ProviderError(f"{self._model} answers no {expected}: check EMBEDDER_DIMENSION")
            for vector in vectors:
                length = sum(value * value for value in vector) ** 0.5
                units.append([value / length for value in vector] if length else vector)
        found = iter(units)
        return [next(found) if text.strip() else [0.0] * self.dimension for text in texts]

    def _send(self, texts: Sequence[str], seconds: float) -> _Embeddings:
        body = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        return read_answer(_post(self._client, "/embeddings", body, seconds), _EMBEDDINGS)


def client(*, api_key: str, base_url: str, timeout: float, connections: int) -> httpx2.Client:
    """Return a client that follows no redirects and keeps as many connections as there are callers."""
    client = guarded_client(timeout=timeout_of(timeout), connections=connections)
    client.base_url = base_url or "https://api.openai.com/v1"
    if api_key:  # many local servers need none
        client.headers["Authorization"] = f"Bearer {api_key}"
    return client


def _post(client: httpx2.Client, path: str, body: dict[str, Any], seconds: float) -> httpx2.Response:
    """Send a request. Raises NoAnswer for a status other than 2xx, HTTPError for a lost connection."""
    content, headers = msgspec.json.encode(body), {"Content-Type": "application/json"}
    response = client.post(path, content=content, headers=headers, timeout=timeout_of(seconds))
    raise_for_status(response)
    return response
