"""Record the tour of the README, docs/images/tour.gif: `make tour` (needs ffmpeg).

A separate demo in a temporary data folder is driven through the console. Each scene is a picture that is shown for some
seconds, with a line that says what is seen.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from scripts.screenshots import IMAGES, running_demo, signed_in

SIZE = {"width": 1120, "height": 700}
SHOWN = 800  # pixels wide
SECONDS = 7
COLOURS = 96
# A bar over the upper edge of the page. Its style is set by properties, as the page's policy forbids style attributes.
CAPTION = """text => {
  const bar = document.createElement("div");
  bar.textContent = text;
  Object.assign(bar.style, {position: "fixed", inset: "0 0 auto 0", padding: "12px 20px", zIndex: 9999,
    background: "#111c18", color: "#fff", font: "600 19px system-ui, sans-serif"});
  document.body.append(bar);
}"""
IS_SETTLED = "() => !document.querySelector('.htmx-request:not([data-background]), .detail[inert]')"


@dataclass(frozen=True, slots=True)
class Scene:
    """What is done, and the line below the picture of what is seen then."""

    line: str
    path: str = ""  # of the project; empty: where the scene before has ended
    act: Callable[[Page], None] | None = None


def _press(*keys: str, until: str) -> Callable[[Page], None]:
    def act(page: Page) -> None:
        for key in keys:
            page.keyboard.press(key)
        page.locator(until).first.wait_for()
        page.wait_for_function(IS_SETTLED)

    return act


def _open_first(selector: str) -> Callable[[Page], None]:
    def act(page: Page) -> None:
        page.locator(selector).first.click()
        page.wait_for_load_state("networkidle")

    return act


def _find(text: str) -> Callable[[Page], None]:
    def act(page: Page) -> None:
        page.keyboard.press("Control+k")
        page.keyboard.type(text)
        page.locator(".palette-option", has_text=text).first.wait_for()

    return act


SCENES = (
    Scene("Three weeks of a conversation: what became of each turn.", "dashboard/"),
    Scene("Every request leaves a trace: what was dropped, at which stage, and why.", "traces/"),
    Scene("One of them, in sentences.", act=_open_first('main a[href*="/traces/"][href$="/"]')),
    Scene("What is doubtful is held back from agents until you decide.", "review/"),
    Scene(
        "Two keys reject it with a reason, one would approve it; u takes it back.",
        act=_press("r", "1", until="#toasts *"),
    ),
    Scene("Two statements that can't both be true: keep one, or date the change.", "contradictions/"),
    Scene("All memories of all users, in every status.", "memories/"),
    Scene(
        "What do you know about Ana, and why? What an agent is told, line by line.",
        "users/",
        act=_open_first("main td a"),
    ),
    Scene("Why did a search find this, and leave that out?", "recall/?user=ana&q=Where+does+Lena+live%3F"),
    Scene("Rules drop small talk within microseconds. A new one is tried on real turns first.", "patterns/"),
    Scene("Settings are versions. Replay a draft on stored traces before you activate it.", "configuration/"),
    Scene("What went wrong is rolled back, without touching what was edited since.", "rollbacks/new/?user=ana"),
    Scene("A weekly sample, one key for each item, tells precision and recall.", "evaluation/label/"),
    Scene("Ctrl+K goes anywhere.", "review/", act=_find("Munich")),
)


def main() -> None:
    """Drive the demo through all scenes and join their pictures."""
    pictures = Path(tempfile.mkdtemp(prefix="tour-"))
    with running_demo() as (address, password, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("chromium-headless-shell"), args=["--no-sandbox"]
        )
        page = signed_in(browser, "light", address, password)
        page.set_viewport_size(SIZE)
        for number, scene in enumerate(SCENES):
            _take(page, scene, f"{address}/console/demo/", pictures / f"{number:02}.png")
        browser.close()
    _join(pictures)
    shutil.rmtree(pictures)


def _take(page: Page, scene: Scene, project: str, picture: Path) -> None:
    if scene.path:
        page.goto(project + scene.path, wait_until="networkidle")
    if scene.act:
        scene.act(page)
    page.evaluate(CAPTION, scene.line)
    page.screenshot(path=picture)


def _join(pictures: Path) -> None:
    palette = (
        f"scale={SHOWN}:-1:flags=lanczos,split[a][b];[a]palettegen=max_colors={COLOURS}[p];[b][p]paletteuse=dither=none"
    )
    read = ["-framerate", f"1/{SECONDS}", "-i", f"{pictures}/%02d.png"]
    subprocess.run(["ffmpeg", "-y", "-loglevel", "error", *read, "-vf", palette, str(IMAGES / "tour.gif")], check=True)


if __name__ == "__main__":
    main()
