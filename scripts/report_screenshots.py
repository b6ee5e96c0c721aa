"""Make docs/images/report-*.png: the report on the diabetes data as a real browser shows it.

Needs Chromium with its driver (Debian: chromium and chromium-driver) and selenium:

    python scripts/report_screenshots.py [--to docs/images] [--report report.html] [--whole]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

IMAGES = Path(__file__).parent.parent / "docs" / "images"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


@dataclass(frozen=True)
class View:
    """A picture: how wide and high in CSS pixels, of which section, on which screen, and whether it is pointed at."""

    name: str
    width: int
    height: int
    section: str
    scale: float = 1.0
    dark: bool = False
    pointer: bool = False

    def size(self, height: int | None = None) -> dict[str, Any]:
        """What the browser is told of the screen."""
        height = self.height if height is None else height
        return {"width": self.width, "height": height, "deviceScaleFactor": self.scale, "mobile": self.width < 600}


VIEWS = (
    View("desktop", 1180, 960, "top"),
    View("matrix", 1180, 900, "matrix", pointer=True),
    View("dark", 1180, 960, "graph", dark=True),
    View("phone", 390, 844, "top", scale=2.0),
)


@contextmanager
def browser(folder: Path) -> Iterator[Any]:
    """Debian's Chromium without a window, with a profile of its own in the folder."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


def diabetes_report(folder: Path) -> Path:
    """The report as the command makes it."""
    subprocess.run([sys.executable, "-m", "pydine", "demo", "--out", "diabetes.csv"], check=True, cwd=folder)
    command = [sys.executable, "-m", "pydine", "report", "diabetes.csv", "--target", "target", "-o", "report.html"]
    subprocess.run(command, check=True, cwd=folder)
    return folder / "report.html"


def take(driver: Any, report: Path, view: View, path: Path, *, whole: bool) -> None:
    """One picture of a section, or of the page from top to bottom."""
    scheme = {"name": "prefers-color-scheme", "value": "dark" if view.dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", view.size())
    driver.get(report.as_uri())
    if whole:
        height = driver.execute_script("return document.documentElement.scrollHeight")
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", view.size(height))
    elif view.section != "top":  # the page opens with it
        driver.execute_script(
            "document.getElementById(arguments[0]).scrollIntoView({behavior: 'instant'})", view.section
        )
    if view.pointer:
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(driver).move_to_element_with_offset(driver.find_element("id", "cells"), -30, -60).perform()
    driver.save_screenshot(str(path))


def main() -> None:
    """Take all pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, default=IMAGES, help="the folder of the pictures")
    parser.add_argument("--report", type=Path, help="a report that is there already")
    parser.add_argument("--whole", action="store_true", help="whole pages, to look through")
    arguments = parser.parse_args()
    arguments.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        report = (arguments.report or diabetes_report(Path(folder))).resolve()
        with browser(Path(folder) / "browser") as driver:
            for view in VIEWS:
                take(driver, report, view, arguments.to / f"report-{view.name}.png", whole=arguments.whole)


if __name__ == "__main__":
    main()
