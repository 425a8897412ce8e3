"""The OpenAPI document at /v1/schema, built once by each process: building it takes seconds, and nobody needs a key."""

from functools import cache
from threading import Lock
from typing import Any

from django.http import HttpResponse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import (
    OpenApiJsonRenderer,
    OpenApiJsonRenderer2,
    OpenApiYamlRenderer,
    OpenApiYamlRenderer2,
)
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.api.negotiation import StructRenderer

_TEXTS: dict[str, type[BaseRenderer]] = {"yaml": OpenApiYamlRenderer, "json": OpenApiJsonRenderer}
_one_at_a_time = Lock()  # without it, requests that arrive together would all build the document


class OpenApiDocumentView(APIView):
    """The OpenAPI document, in YAML unless the header `Accept` or `?format=json` asks for JSON."""

    authentication_classes = ()
    permission_classes = ()
    renderer_classes = (OpenApiYamlRenderer, OpenApiYamlRenderer2, OpenApiJsonRenderer, OpenApiJsonRenderer2)

    @extend_schema(exclude=True)
    def get(self, request: Request) -> HttpResponse:
        """Return the document, which is the same for every caller."""
        chosen: BaseRenderer = request.accepted_renderer
        with _one_at_a_time:
            text = _text(chosen.format)
        charset = f"; charset={chosen.charset}" if chosen.charset else ""
        shown = {"Content-Disposition": f'inline; filename="memplatform.{chosen.format}"'}
        return HttpResponse(text, content_type=f"{chosen.media_type}{charset}", headers=shown)

    def handle_exception(self, exc: Exception) -> Response:
        """Answer errors in JSON, whatever form of the document was asked for."""
        answer = super().handle_exception(exc)
        self.request.accepted_renderer, self.request.accepted_media_type = StructRenderer(), StructRenderer.media_type
        return answer


@cache
def _text(form: str) -> bytes:
    """Return the document as text in this form, `yaml` or `json`."""
    written = _TEXTS[form]().render(_document(), renderer_context={})
    return written if isinstance(written, bytes) else written.encode()


@cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return document
