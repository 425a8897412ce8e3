"""How a person works with a page: with the mouse alone, or with the keyboard alone; and on which windows."""

from dataclasses import dataclass

from playwright.sync_api import Locator, expect

from tests.console.browser.conftest import Window
from tests.soak import is_soak

WIDTHS = (1280, 820, 390)
MOST_TABS = 400
# Width of the window, and whether the person has a mouse; an ordinary run takes one.
WINDOWS = [(width, has_mouse) for width in WIDTHS for has_mouse in (True, False)] if is_soak() else [(1280, True)]


@dataclass
class Hands:
    """A person who clicks, or who moves with Tab and presses Enter; both are counted as clicks."""

    window: Window
    has_mouse: bool
    clicks: int = 0

    def click(self, target: Locator) -> None:
        """Use a link or a button."""
        expect(target).to_be_visible()
        self.clicks += 1
        if self.has_mouse:
            target.click()
        else:
            self._tab_to(target)
            self.window.press("Enter")

    def tick(self, target: Locator) -> None:
        """Change a checkbox."""
        if self.has_mouse:
            target.click()
        else:
            self._tab_to(target)
            self.window.press("Space")

    def write(self, target: Locator, text: str) -> None:
        """Replace the text of a field."""
        if self.has_mouse:
            target.fill(text)
        else:
            self._tab_to(target)
            self.window.press("Control+a")
            self.window.page.keyboard.type(text)

    def _tab_to(self, target: Locator) -> None:
        self.window.page.wait_for_load_state("load")
        for _ in range(MOST_TABS):
            if target.evaluate("element => element === document.activeElement"):
                return
            self.window.page.keyboard.press("Tab")
        raise AssertionError(f"Tab does not reach {target}")
