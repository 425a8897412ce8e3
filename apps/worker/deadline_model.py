"""A model for a caller who waits no longer than a moment, however long the model takes."""

import threading
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextvars import copy_context

from django.db import connection

from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest
from apps.pipeline.core.ports import Model
from apps.worker.shutdown import Deadline


class OutOfTime(Exception):
    """The caller's time is up and the work is left to the workers; this is no failure of the model."""


class DeadlineModel:
    """Asks a model in a thread of its own; an answer that comes after the deadline is not used."""

    def __init__(self, model: Model, deadline: Deadline) -> None:
        self._model, self._deadline = model, deadline

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """Answer a request. Raises ModelFailed, OutOfTime."""
        if not connection.in_atomic_block:
            connection.close()  # calls are long, connections are few
        answer: Future[ModelAnswer] = Future()
        within = copy_context()  # its log lines and spans are of the same request
        threading.Thread(
            target=within.run, args=(_fulfil, answer, self._model, request), name="model", daemon=True
        ).start()
        try:
            return answer.result(timeout=max(0.0, self._deadline.at - time.monotonic()))
        except FutureTimeout as error:
            raise OutOfTime("the model has not answered in time") from error


def _fulfil(answer: Future[ModelAnswer], model: Model, request: ModelRequest) -> None:
    try:
        answer.set_result(model.complete(request))
    except Exception as error:  # noqa: BLE001  (the waiting caller raises it)
        answer.set_exception(error)
