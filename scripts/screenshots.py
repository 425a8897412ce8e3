"""Take screenshots of the console's pages for the documentation: `make screenshots`.

With `--all` (`make screenshots ALL=1`) they are pictures for whoever changes a page: each page in full, on a desktop, a
tablet and a phone, light and dark, in the demo's project and in an empty one, in var/screenshots. All are taken from a
separate demo in a temporary data folder, which is deleted afterwards.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

PROJECT = Path(__file__).resolve().parents[1]
IMAGES = PROJECT / "docs" / "images"
WIDE, TABLET, NARROW = ({"width": 1280, "height": 800}, {"width": 820, "height": 1180}, {"width": 390, "height": 844})
PAGES = (
    "review contradictions dashboard traces memories users entities patterns configuration evaluation label rollback"
    " recall queue keys members audit"
).split()
# Of pages whose name is not their path.
PATHS = {
    "label": "evaluation/label/",
    "rollback": "rollbacks/new/?user=ana",
    "recall": "recall/?user=ana&q=Where+does+Lena+live%3F",
}
EVERY_PAGE = (
    "review contradictions decisions dashboard traces memories users recall entities patterns patterns/new"
    " configuration replays replays/new replays/what-if evaluation evaluation/label rollbacks rollbacks/new"
    " alerts alerts/recipients queue imports imports/new imports/audit webhooks audit keys members project ask"
).split()
ALL_IMAGES = PROJECT / "var" / "screenshots"
ALSO_NARROW = frozenset({"review", "contradictions", "dashboard"})
# A page, and the list whose first row it is.
FIRST_OF = {"user": "users", "trace": "traces", "entity": "entities", "replay": "replays"}
SCHEMES = ("light", "dark")
Command = Callable[..., None]
_SHELL = ("shell", "-v0", "-c")
PATIENCE = 300  # seconds for the demo, on a busy machine


def main() -> None:
    """Start a demo, take all screenshots and delete the demo."""
    with running_demo() as (address, password, run), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-headless-shell"), args=["--no-sandbox"]
        )
        if "--all" in sys.argv:
            run("createproject", "Empty", "--slug", "empty")
            for scheme in SCHEMES:
                _take_every_page(signed_in(browser, scheme, address, password), scheme, address)
            return
        pages = {scheme: signed_in(browser, scheme, address, password) for scheme in SCHEMES}
        for scheme, page in pages.items():
            _take_all(page, scheme, address)
        run(*_SHELL, "from scripts.screenshot_data import silence_the_model; silence_the_model()")
        for scheme, page in pages.items():
            _take(page, f"{address}/console/demo/alerts/", f"alerts-{scheme}")
        browser.close()


@contextmanager
def running_demo() -> Iterator[tuple[str, str, Command]]:
    """Run a demo in a temporary data folder; yield its address, its password and how to run its commands."""
    folder, port = Path(tempfile.mkdtemp(prefix="pictures-", dir="/tmp")), _free_port()
    own = {"MEMPLATFORM_DATA": str(folder), "DATABASE_URL": "", "REDIS_URL": "", "PYTHONPATH": str(PROJECT)}
    environment, result = {**os.environ, **own}, folder / "result.json"
    command = [sys.executable, "manage.py", "demo", f"--port={port}", f"--json={result}"]
    demo = subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE
        while not result.exists():
            if demo.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("the demo did not come up")
            time.sleep(0.5)  # there is no notification

        def run(*words: str) -> None:
            command = [sys.executable, "manage.py", *words]
            subprocess.run(command, cwd=PROJECT, env=environment, check=True, stdout=subprocess.DEVNULL)

        run("evaluate", "draw", "demo", "--seed=1")
        run(*_SHELL, "from scripts.screenshot_data import arrange; arrange()")
        yield f"http://127.0.0.1:{port}", (folder / "demo-password").read_text(), run
    finally:
        demo.terminate()
        demo.wait(timeout=PATIENCE)
        subprocess.run([sys.executable, "manage.py", "stop", "--delete"], cwd=PROJECT, env=environment, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _take_all(page: Page, scheme: str, address: str) -> None:
    for name in PAGES:
        page.set_viewport_size(WIDE)
        _take(page, f"{address}/console/demo/{PATHS.get(name, f'{name}/')}", f"{name}-{scheme}")
        if name in ALSO_NARROW:
            page.set_viewport_size(NARROW)
            _take(page, f"{address}/console/demo/{name}/", f"{name}-narrow-{scheme}")
    page.set_viewport_size(WIDE)
    for name, path in _first_rows(page, address).items():
        _take(page, f"{address}{path}", f"{name}-{scheme}")


def _first_rows(page: Page, address: str) -> dict[str, str]:
    """Return the path of the first row of each list whose rows have pages of their own."""
    paths = {}
    for name, listed in FIRST_OF.items():
        page.goto(f"{address}/console/demo/{listed}/")
        rows = page.locator(f'main :is(li, td) a[href^="/console/demo/{listed}/"][href$="/"]')
        paths[name] = rows.first.get_attribute("href") or ""
    return paths


def _take_every_page(page: Page, scheme: str, address: str) -> None:
    first_rows = _first_rows(page, address)
    for project in ("demo", "empty"):
        paths = {name.replace("/", "-"): f"/console/{project}/{name}/" for name in EVERY_PAGE}
        paths |= first_rows if project == "demo" else {}
        for width, size in (("wide", WIDE), ("tablet", TABLET), ("narrow", NARROW)):
            folder = ALL_IMAGES / f"{project}-{width}-{scheme}"
            folder.mkdir(parents=True, exist_ok=True)
            page.set_viewport_size(size)
            for name, path in paths.items():
                _take(page, f"{address}{path}", name, folder, is_full=True)


def signed_in(browser: Browser, scheme: str, address: str, password: str) -> Page:
    """Return a page of the console after the login, in a color scheme."""
    page = browser.new_page(viewport=WIDE, color_scheme=scheme, reduced_motion="reduce")
    page.goto(f"{address}/console/login/")
    page.get_by_label("User name").fill("demo")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/review/")
    return page


def _take(page: Page, address: str, name: str, folder: Path = IMAGES, *, is_full: bool = False) -> None:
    page.goto(address, wait_until="networkidle")
    page.screenshot(path=folder / f"{name}.png", full_page=is_full)


if __name__ == "__main__":
    main()
