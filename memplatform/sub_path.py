"""Serving below a sub-path of a host (https://example.com/memory), which a proxy removes or leaves."""

from memplatform.asgi_types import Application, Receive, Scope, Send


def without_sub_path(application: Application, sub_path: str) -> Application:
    """Return an application whose requests have their paths within the sub-path."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and f"{scope['path']}/".startswith(f"{sub_path}/"):
            scope = {**scope, "path": scope["path"].removeprefix(sub_path) or "/", "root_path": ""}
        await application(scope, receive, send)

    return answer if sub_path else application


def with_sub_path(application: Application, sub_path: str) -> Application:
    """Return an application whose requests have whole paths, as Django expects them beside FORCE_SCRIPT_NAME."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await application({**scope, "path": f"{sub_path}{scope['path']}"}, receive, send)

    return answer if sub_path else application
