"""First steps: what is left to do in a project without traces."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from apps.console.permissions import ProjectVisit, project_page
from apps.console.selectors.first_steps import first_steps as read_first_steps

_COMMAND = """\
curl -s {address} \\
  -H "Authorization: Bearer YOUR_KEY" -H "Content-Type: application/json" \\
  -d '{{"user_id": "kim", "session_id": "monday", "turns": [{{"role": "user", "content": "I live in Lyon."}}]}}'"""


@project_page()
def first_steps(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show the steps, polled until there is a trace; a project with traces has no such page any more."""
    steps, is_poll = read_first_steps(project_id=visit.project.pk), bool(getattr(request, "htmx", False))
    if steps.trace_id and not is_poll:
        return redirect("console:review", slug=visit.project.slug)
    if is_poll and not steps.trace_id and request.GET.get("has_key") == str(int(steps.has_key)):
        return HttpResponse(status=204)  # nothing is new, so focus and selected text stay
    template = "console/_first_steps.html" if is_poll else "console/first_steps.html"
    command = _COMMAND.format(address=request.build_absolute_uri("/v1/turns"))
    return render(request, template, {"steps": steps, "command": command})
