"""The palette: go to anything by typing a part of its name."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.console.permissions import ProjectVisit, project_page
from apps.console.query_params import query_param
from apps.console.selectors.palette import destinations, search_of_all

_MOST_CHARACTERS = 100


@project_page()
def palette(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Return what a text names, as options of the list in the dialog."""
    text = query_param(request, "q", limit=_MOST_CHARACTERS)
    groups = destinations(visit=visit, text=text)
    total = sum(len(group.entries) for group in groups)
    shown = {"groups": groups, "text": text, "total": total, "further": search_of_all(visit=visit, text=text)}
    return render(request, "console/_palette.html", shown)
