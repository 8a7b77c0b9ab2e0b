"""A real browser for tests: Debian's Chromium without a window, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--no-sandbox", "--disable-gpu")
SECONDS = 60  # the longest wait for one answer


def find_browser() -> str | None:
    """Chromium's path, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def need_browser() -> str:
    """Chromium's path; without it a skip, or a failure where BVDT_NEEDS_BROWSER is set, as in the gate."""
    path = find_browser()
    if path is not None:
        return path
    reason = "no Chromium here; on Debian: apt install chromium"
    if os.environ.get("BVDT_NEEDS_BROWSER"):
        pytest.fail(reason)
    pytest.skip(reason)


class Browser:
    """One page at a time; ``open`` begins a new one, with nothing kept of the last."""

    def __init__(self, *flags: str) -> None:
        command = need_browser()
        from playwright.sync_api import sync_playwright

        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(executable_path=command, args=[*FLAGS, *flags])
        self._context: Any = None
        self.page: Any = None

    def close(self) -> None:
        self._browser.close()
        self._playwright.stop()

    def open(
        self, address: Path | str, width: int = 1000, height: int = 800, dark: bool = False, **more: Any
    ) -> Any:
        """Load a file or an address and wait until it is painted; Playwright's page."""
        if self._context is not None:
            self._context.close()
        mobile = width < 600
        self._context = self._browser.new_context(
            viewport={"width": width, "height": height},
            is_mobile=mobile,
            has_touch=mobile,
            color_scheme="dark" if dark else "light",
            **more,
        )
        self._context.set_default_timeout(1000 * SECONDS)
        self._said: list[str] = []
        self._requested: list[str] = []
        self.page = self._context.new_page()
        self.page.on("console", lambda message: self._said.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self._said.append(f"error: {error}"))
        self._context.on("request", lambda request: self._requested.append(request.url))
        self.page.goto(address.as_uri() if isinstance(address, Path) else address)
        self.settle()
        return self.page

    def another(self, address: str) -> Any:
        """A second tab beside the page, of the same person."""
        tab = self._context.new_page()
        tab.goto(address)
        return tab

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A method of the browser's debugging protocol."""
        session = self._context.new_cdp_session(self.page)
        return dict(session.send(method, params))

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise is waited for."""
        return self.page.evaluate(expression)

    def settle(self) -> None:
        """Wait for two frames: what was asked for before is on the screen."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def complaints(self) -> list[str]:
        """Console messages and exceptions since ``open``."""
        return list(self._said)

    def requests(self) -> list[str]:
        """Addresses that the page loaded since ``open``."""
        return list(self._requested)

    def move(self, x: float, y: float) -> None:
        self.page.mouse.move(x, y)
        self.settle()

    def click(self, x: float, y: float) -> None:
        self.page.mouse.click(x, y)
        self.settle()

    def tap(self, x: float, y: float) -> None:
        self.page.touchscreen.tap(x, y)
        self.settle()

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.settle()
