"""Show the documentation, the Markdown files of docs/, at /docs/."""

import posixpath
import re
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path
from xml.etree.ElementTree import Element

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe
from django.views.static import serve
from markdown import Markdown
from markdown.treeprocessors import Treeprocessor

CONTENTS = "contents.md"  # a list of all pages, shown beside each
MOST_FOUND = 50
_HEADING = re.compile(r'<h[1-6] id="([^"]*)">(.*?)</h[1-6]>')
_TAG = re.compile(r"<[^>]+>")


@dataclass(frozen=True, slots=True)
class Page:
    """A page as HTML with its title."""

    title: str
    body: SafeString


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a page that a search has found."""

    page: str
    title: str
    address: str


@require_safe
def documentation(request: HttpRequest, path: str = "") -> HttpResponseBase:
    """Show a page, or the sections that hold all words of `q`; send another file of the folder. Raises Http404."""
    if path and not path.endswith("/"):
        return serve(request, path, document_root=str(settings.DOCUMENTATION_ROOT))
    contents = _page(CONTENTS).body
    if words := request.GET.get("q", "").casefold().split():
        sections = [(section, text) for name in page_names() for section, text in _sections(name)]
        found = [section for section, text in sections if all(word in text for word in words)]
        # Those with a word in the heading come first.
        found.sort(key=lambda each: not any(word in each.title.casefold() for word in words))
        return render(request, "documentation.html", {"contents": contents, "found": found[:MOST_FOUND]})
    here = f'href="{request.path}"'
    marked = contents.replace(here, f'{here} aria-current="page"')
    page = _page(f"{path.rstrip('/') or 'index'}.md")
    context = {"contents": mark_safe(marked), "page": page}  # noqa: S308  (the product's own files)
    return render(request, "documentation.html", context)


@cache
def _page(name: str) -> Page:
    """Return a page of the folder. Raises Http404."""
    if name not in (CONTENTS, *page_names()):
        raise Http404("there is no such page")
    text = Path(settings.DOCUMENTATION_ROOT, name).read_text(encoding="utf-8")
    reader = Markdown(
        extensions=["fenced_code", "tables", "toc"],
        extension_configs={"tables": {"use_align_attribute": True}, "toc": {"toc_depth": "2-6"}},
    )
    reader.treeprocessors.register(_Addresses(name), "addresses", priority=0)
    body = mark_safe(reader.convert(text))  # noqa: S308  (the product's own files)
    heading = _HEADING.search(body)
    return Page(_plain(heading[2]) if heading else "Documentation", body)


class _Addresses(Treeprocessor):
    """Lead links to other files of the folder to where they are shown."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._folder = posixpath.dirname(name)

    def run(self, root: Element) -> None:
        """Rewrite the links and images of a page."""
        for element in root.iter():
            for attribute in {"href", "src"}.intersection(element.keys()):
                file, mark, anchor = element.get(attribute, "").partition("#")
                if file and ":" not in file and not file.startswith("/"):
                    file = posixpath.normpath(posixpath.join(self._folder, file))
                    element.set(attribute, f"{page_address(file)}{mark}{anchor}")


def page_address(file: str) -> str:
    """Return the address of a file of the folder."""
    page = file.removesuffix(".md")
    if page == "index":
        return reverse("documentation")
    return reverse("documentation", args=[file if page == file else f"{page}/"])


@cache
def page_names() -> tuple[str, ...]:
    """Return the names of all pages, but not of the list of them."""
    root = Path(settings.DOCUMENTATION_ROOT)
    names = (file.relative_to(root).as_posix() for file in root.rglob("*.md"))
    return tuple(sorted(name for name in names if name != CONTENTS))


@cache
def _sections(name: str) -> tuple[tuple[Section, str], ...]:
    """Return the sections of a page with their words in small letters."""
    page, address = _page(name), page_address(name)
    _, *parts = _HEADING.split(page.body)
    return tuple(
        (Section(page.title, _plain(title), f"{address}#{anchor}"), _plain(f"{title} {text}").casefold())
        for anchor, title, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    )


def _plain(html: str) -> str:
    return unescape(_TAG.sub(" ", html)).strip()
