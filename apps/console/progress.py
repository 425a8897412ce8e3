"""The part of a page that is read again each second while something is under way."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def progress_part(request: HttpRequest, template: str, context: Mapping[str, Any], *, is_over: bool) -> HttpResponse:
    """Render how far something is; once it is over, the browser loads the whole page again."""
    response = render(request, template, context)
    if is_over:
        response["HX-Refresh"] = "true"
    return response
