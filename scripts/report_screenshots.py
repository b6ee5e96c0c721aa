"""Make docs/images/report-*.png: reports on the diabetes data and on credit approvals, as a real browser shows them.

Needs Chromium with its driver (Debian: chromium and chromium-driver) and selenium. Any other table, to look at:

    python scripts/report_screenshots.py [--to docs/images]
    python scripts/report_screenshots.py --to FOLDER --table students.csv --target grade [--whole]
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

DOCS = Path(__file__).parent.parent / "docs"
IMAGES = DOCS / "images"
CREDIT = DOCS / "data" / "credit.tsv"
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
OF_CREDIT = (View("credit", 1180, 900, "columns"),)


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


def report_of(table: Path, target: str, folder: Path) -> Path:
    """The report as the command makes it."""
    out = folder / f"{table.stem}.html"
    command = [sys.executable, "-m", "pydine", "report", str(table), "--target", target, "-o", str(out)]
    subprocess.run(command, check=True, cwd=folder)
    return out


def diabetes_in(folder: Path) -> Path:
    """The table of the demonstration."""
    subprocess.run([sys.executable, "-m", "pydine", "demo", "--out", "diabetes.csv"], check=True, cwd=folder)
    return folder / "diabetes.csv"


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
    parser.add_argument("--table", type=Path, help="a table of your own, in place of the two of the documentation")
    parser.add_argument("--target", help="its target")
    parser.add_argument("--whole", action="store_true", help="whole pages, to look through")
    arguments = parser.parse_args()
    arguments.to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if arguments.table is None:
            views = {
                report_of(diabetes_in(folder), "target", folder): VIEWS,
                report_of(CREDIT, "A16", folder): OF_CREDIT,
            }
        else:
            views = {report_of(arguments.table.resolve(), arguments.target, folder): VIEWS}
        with browser(folder / "browser") as driver:
            for report, some in views.items():
                for view in some:
                    take(driver, report, view, arguments.to / f"report-{view.name}.png", whole=arguments.whole)


if __name__ == "__main__":
    main()
