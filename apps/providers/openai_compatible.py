"""Any server that speaks OpenAI's protocol: OpenAI itself, Gemini's compatible address, vLLM, Ollama."""

from collections.abc import Sequence
from time import perf_counter_ns
from typing import Any

import openai
from openai.types.chat import ChatCompletion, ChatCompletionMessageParam

from apps.pipeline.core.model_calls import ModelAnswer, ModelFailed, ModelRequest, StopReason, Usage
from apps.pipeline.core.ports import Vector
from apps.providers.errors import ProviderError, is_permanent, without_secret
from apps.providers.http import MALFORMED, refuse_long_waits
from apps.providers.schemas import plain_schema

RETRIES = 2  # with jitter, for 408, 409, 429, 5xx and lost connections
NO_KEY = "none"  # many local servers want none, the SDK wants some
_BATCH = 128  # texts of one embedding call
_STOPS = {"length": StopReason.TRUNCATED, "content_filter": StopReason.REFUSED}


class OpenAICompatibleModel:
    """A chat model; one client a process, shared by its threads. A key marked as secret never leaves it in an error."""

    def __init__(self, *, name: str, api_key: str, base_url: str = "", timeout: float, connections: int) -> None:
        self._name, self._key = name, api_key
        self._is_vendor = not base_url
        self._structured = True  # until the server refuses a JSON schema
        self._client = client(api_key=api_key, base_url=base_url, timeout=timeout, connections=connections)

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """Answer a request. Raises ModelFailed."""
        started = perf_counter_ns()
        try:
            completion = self._ask(request)
            choice = completion.choices[0]
            return ModelAnswer(
                text=choice.message.content or "",
                model=self._name,
                usage=_usage(completion),
                stop=StopReason.REFUSED if choice.message.refusal else _STOPS.get(choice.finish_reason, StopReason.END),
                latency_us=_micros(started),
            )
        except openai.OpenAIError as error:
            told, permanent = _told(error, secret=self._key)
            raise ModelFailed(told, permanent=permanent, model=self._name, latency_us=_micros(started)) from error
        except MALFORMED as error:
            raise ModelFailed("a malformed answer", model=self._name, latency_us=_micros(started)) from error

    def _ask(self, request: ModelRequest) -> ChatCompletion:
        structured = self._structured
        try:
            return self._send(request, structured=structured)
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            if not structured or not _is_about_format(error):
                raise
        self._structured = False  # JSON mode then; the prompt describes the answer as well
        return self._send(request, structured=False)

    def _send(self, request: ModelRequest, *, structured: bool) -> ChatCompletion:
        # OpenAI's newer models want one name of the limit, most compatible servers know only the other.
        limit: dict[str, Any] = {"max_completion_tokens" if self._is_vendor else "max_tokens": request.max_tokens}
        form: Any = {"type": "json_object"}
        if structured:
            named = {"name": request.purpose.value, "schema": plain_schema(request.schema), "strict": False}
            form = {"type": "json_schema", "json_schema": named}
        return self._client.chat.completions.create(
            model=self._name, messages=_messages(request), response_format=form, **limit
        )


class OpenAICompatibleEmbedder:
    """An embedding model; its vectors carry its name, and are `dimension` long as the first answer tells."""

    def __init__(self, *, name: str, dimension: int, api_key: str, base_url: str, timeout: float) -> None:
        self._model, self._key, self._dimension = name, api_key, dimension
        self._client = client(api_key=api_key, base_url=base_url, timeout=timeout, connections=8)

    @property
    def name(self) -> str:
        """Return the name that its vectors carry."""
        return f"openai:{self._model}"

    @property
    def dimension(self) -> int:
        """Return the length of its vectors, as configured."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one unit vector a text; a blank text gives the zero vector. Raises ProviderError."""
        wanted = [text for text in texts if text.strip()]
        found = iter(
            [vector for at in range(0, len(wanted), _BATCH) for vector in self._some(wanted[at : at + _BATCH])]
        )
        return [next(found) if text.strip() else [0.0] * self._dimension for text in texts]

    def _some(self, texts: Sequence[str]) -> list[Vector]:
        try:
            answer = self._client.embeddings.create(model=self._model, input=list(texts), encoding_format="float")
        except openai.OpenAIError as error:
            told, _ = _told(error, secret=self._key)
            raise ProviderError(told) from error
        vectors = [each.embedding for each in sorted(answer.data, key=lambda each: each.index)]
        if len(vectors) != len(texts) or any(len(vector) != self._dimension for vector in vectors):
            raise ProviderError(f"{self._model} answers no {self._dimension} numbers a text: check EMBEDDER_DIMENSION")
        return [_unit(vector) for vector in vectors]


def client(*, api_key: str, base_url: str, timeout: float, connections: int) -> openai.OpenAI:
    """Return a client that follows no redirects and keeps as many connections as there are callers."""
    limits = type(openai.DEFAULT_CONNECTION_LIMITS)(max_connections=connections, max_keepalive_connections=connections)
    return openai.OpenAI(
        api_key=api_key or NO_KEY,
        base_url=base_url or "https://api.openai.com/v1",
        max_retries=RETRIES,
        http_client=openai.DefaultHttpx2Client(
            timeout=openai.Timeout(timeout, connect=5.0),
            limits=limits,
            follow_redirects=False,
            event_hooks={"response": [refuse_long_waits]},
        ),
    )


def _messages(request: ModelRequest) -> list[ChatCompletionMessageParam]:
    """Return the static part first: these servers cache prefixes by themselves."""
    context: list[ChatCompletionMessageParam] = (
        [{"role": "system", "content": request.context}] if request.context else []
    )
    return [{"role": "system", "content": request.static}, *context, {"role": "user", "content": request.turns}]


def _usage(completion: ChatCompletion) -> Usage:
    usage = completion.usage
    if usage is None:
        return Usage()
    cached = (usage.prompt_tokens_details.cached_tokens if usage.prompt_tokens_details else 0) or 0
    read = usage.prompt_tokens or 0
    return Usage(input=max(0, read - cached), cache_read=cached, output=usage.completion_tokens or 0)


def _told(error: openai.OpenAIError, *, secret: str) -> tuple[str, bool]:
    status = error.status_code if isinstance(error, openai.APIStatusError) else None
    return without_secret(f"{type(error).__name__}: {error}", secret=secret), is_permanent(status)


def _is_about_format(error: openai.APIStatusError) -> bool:
    return any(word in str(error).lower() for word in ("response_format", "json_schema", "schema", "structured"))


def _unit(vector: Sequence[float]) -> Vector:
    length = sum(value * value for value in vector) ** 0.5
    return [value / length for value in vector] if length else list(vector)


def _micros(started: int) -> int:
    return (perf_counter_ns() - started) // 1_000
