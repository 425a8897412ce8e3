"""Serve the documentation at /docs/, where `make docs` has built it."""

import base64
import hashlib
import re
from functools import lru_cache
from pathlib import Path

from csp.constants import SELF
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe
from django.views.static import serve

_INLINE_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@require_safe
def documentation(request: HttpRequest, path: str = "") -> HttpResponseBase:
    """Return a file of the built documentation, a page for a folder. Raises Http404 where there is none.

    Pages hold scripts of their theme; the Content-Security-Policy allows just these, by their hashes.
    """
    if not path or path.endswith("/"):
        path += "index.html"
    try:
        response: HttpResponseBase = serve(request, path, document_root=str(settings.DOCUMENTATION_ROOT))
    except Http404 as error:
        raise Http404("there is no such page; `make docs` builds the documentation") from error
    if path.endswith(".html"):
        page = Path(settings.DOCUMENTATION_ROOT, path)
        hashes = _script_hashes(page, page.stat().st_mtime_ns)
        response._csp_replace = {"script-src": [SELF, *hashes]}  # type: ignore[attr-defined]  # read by django-csp
    return response


@lru_cache(maxsize=256)
def _script_hashes(page: Path, _modified: int) -> tuple[str, ...]:
    """Return the sources of the page's own scripts, as a Content-Security-Policy names them."""
    digests = (hashlib.sha256(script.encode()).digest() for script in _INLINE_SCRIPT.findall(page.read_text()))
    return tuple(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
