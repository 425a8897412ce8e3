"""Tell of calls of models and embedders: spans after the conventions of OpenTelemetry for `gen_ai`, and counts.

Nothing that is asked or answered becomes an attribute.
"""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TypeVar
from urllib.parse import urlsplit

from opentelemetry.trace import SpanKind
from opentelemetry.util.types import AttributeValue

from apps.pipeline.core.model_calls import ModelAnswer, ModelFailed, ModelRequest, StopReason
from apps.pipeline.core.ports import Embedder, Vector
from apps.providers.entries import Choice
from apps.telemetry import metrics
from apps.telemetry.tracing import fail, span

Answer = TypeVar("Answer")

ANSWERED = "answered"
_FINISH_REASONS = {StopReason.END: "stop", StopReason.TRUNCATED: "length", StopReason.REFUSED: "content_filter"}


def observed_call(request: ModelRequest, *, spec: str, choice: Choice, ask: Callable[[], ModelAnswer]) -> ModelAnswer:
    """Ask a model, and tell of the call; `ask` adds the cost. Raises ModelFailed."""
    started = perf_counter()
    with span(f"chat {choice.entry.model}", kind=SpanKind.CLIENT) as call:
        if call.is_recording():
            address = urlsplit(choice.server.base_url).hostname
            asked: dict[str, AttributeValue] = {
                "gen_ai.operation.name": "chat",
                "gen_ai.provider.name": choice.provider.name,
                "gen_ai.request.model": choice.entry.model,
                "gen_ai.request.max_tokens": request.max_tokens,
                "gen_ai.output.type": "json",
                "memplatform.purpose": request.purpose.value,
                **({} if request.temperature is None else {"gen_ai.request.temperature": request.temperature}),
                **({"server.address": address} if address else {}),
            }
            call.set_attributes(asked)
        try:
            answer = ask()
        except ModelFailed as failure:
            outcome = "timeout" if failure.is_timeout else failure.kind.value
            fail(call, outcome)
            metrics.CALLS.labels(spec, request.purpose.value, outcome).inc()
            raise
        finally:
            metrics.CALL_SECONDS.labels(spec).observe(perf_counter() - started)
        usage = answer.usage
        if call.is_recording():
            told: dict[str, AttributeValue] = {
                "gen_ai.response.model": answer.model,
                "gen_ai.response.finish_reasons": [_FINISH_REASONS[answer.stop]],
                # Those of the cache too, as the conventions ask.
                "gen_ai.usage.input_tokens": usage.all_input,
                "gen_ai.usage.output_tokens": usage.output,
                "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
                "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
            }
            call.set_attributes(told)
    metrics.CALLS.labels(spec, request.purpose.value, ANSWERED).inc()
    metrics.TOKENS.labels(spec, "input").inc(usage.input)
    metrics.TOKENS.labels(spec, "cache_read").inc(usage.cache_read)
    metrics.TOKENS.labels(spec, "cache_write").inc(usage.cache_write)
    metrics.TOKENS.labels(spec, "output").inc(usage.output)
    metrics.DOLLARS.labels(spec).inc(float(answer.cost_usd))
    return answer


class ObservedEmbedder:
    """An embedder whose calls are told of."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.dimension = embedder.name, embedder.dimension
        self._embedder = embedder

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vectors of texts."""
        with span(f"embeddings {self.name}", kind=SpanKind.CLIENT) as call:
            if call.is_recording():
                provider, _, name = self.name.partition(":")
                attributes: dict[str, AttributeValue] = {
                    "gen_ai.operation.name": "embeddings",
                    "gen_ai.provider.name": provider,
                    "gen_ai.request.model": name or provider,
                    "gen_ai.embeddings.dimension.count": self.dimension,
                }
                call.set_attributes(attributes)
            started, outcome = perf_counter(), ANSWERED
            try:
                return self._embedder.embed(texts)
            except Exception as error:  # whatever it is, it is counted and raised again
                outcome = "failed"
                fail(call, type(error).__name__)
                raise
            finally:
                metrics.EMBEDDINGS.labels(self.name, outcome).inc()
                metrics.EMBEDDING_SECONDS.labels(self.name).observe(perf_counter() - started)
