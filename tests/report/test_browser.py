"""The page in a real browser."""

import csv
import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from pydine.report import make_report, to_html
from report_data import ROWS, make_frame


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("Chromium and its driver are not installed (Debian: chromium and chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    profile = f"--user-data-dir={tmp_path_factory.mktemp('browser')}"
    quiet = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic")
    for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", *quiet, profile):
        options.add_argument(flag)
    driver = webdriver.Chrome(options, webdriver.ChromeService(driver))
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser, tmp_path):
    """Open a page on a screen of some size; at the end nothing may have been said on the console."""

    def opened(page, width=1180, height=1000, dark=False):
        path = tmp_path / "report.html"
        path.write_text(page, encoding="utf-8")
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        browser.get(path.as_uri())
        return browser

    browser.get("about:blank")
    browser.get_log("browser")
    yield opened
    assert browser.get_log("browser") == []


def text_of(driver, identity):
    return driver.execute_script("return document.getElementById(arguments[0]).innerText", identity)


def over_cell(driver, row, column, click=False):
    """Point at a cell of the matrix, counted as it is shown."""
    from selenium.webdriver.common.action_chains import ActionChains

    canvas = driver.find_element("id", "cells")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", canvas)
    width, height = (driver.execute_script(f"return arguments[0].client{side}", canvas) for side in ("Width", "Height"))
    p = driver.execute_script("return JSON.parse(document.getElementById('data').textContent).names.length")
    cell = min(52, (width - 2) // p)
    left = width - 2 - p * cell
    x, y = left + (column + 0.5) * cell - width / 2, left + (row + 0.5) * cell - height / 2
    chain = ActionChains(driver).move_to_element_with_offset(canvas, round(x), round(y))
    (chain.click() if click else chain).perform()


@pytest.mark.slow
def test_two_hundred_columns_open_within_three_seconds(opened, wide_page):
    driver = opened(wide_page)
    done = "const [t] = performance.getEntriesByType('navigation'); return t.loadEventEnd - t.startTime"
    assert 0.0 < driver.execute_script(done) < 3000.0


@pytest.mark.slow
def test_hovering_tells_value_interval_and_pvalue(opened, report, page):
    driver = opened(page)
    driver.find_element("css selector", "#order option[value=file]").click()
    over_cell(driver, 0, 3)
    columns = report.matrix.columns()
    k = next(k for k in range(6) if {columns["x"][k], columns["y"][k]} == {"cause", "outcome"})
    said = text_of(driver, "tip")
    assert said.startswith("cause and outcome\n")
    assert f"{columns['information'][k]:.3f} nats" in said
    assert f"95% interval {columns['low'][k]:.3f} to {columns['high'][k]:.3f}" in said
    assert "p < 0.0001, Spearman 0." in said
    over_cell(driver, 1, 1)  # the diagonal has nothing to tell
    assert driver.find_element("id", "tip").get_attribute("hidden") is not None


@pytest.mark.slow
def test_hovering_over_an_edge_tells_what_is_left_given_the_rest(opened, report, page):
    from selenium.webdriver.common.action_chains import ActionChains

    driver = opened(page)
    edge = driver.find_element("css selector", ".edge[data-pair='0,1']")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", edge)
    middle = "const p = arguments[0].querySelector('path'); const m = p.getPointAtLength(p.getTotalLength() / 2); "
    middle += "const s = m.matrixTransform(p.getScreenCTM()); return [Math.round(s.x), Math.round(s.y)]"
    chain = ActionChains(driver)
    chain.w3c_actions.pointer_action.move_to_location(*driver.execute_script(middle, edge))
    chain.perform()
    assert f"{report.graph.values[0, 1]:.3f} nats given the rest" in text_of(driver, "tip")


@pytest.mark.slow
def test_clicking_shows_the_rows_in_both_spaces(opened, page):
    driver = opened(page)
    driver.find_element("css selector", "#order option[value=file]").click()
    pictures = "return ['raw', 'latent'].map((id) => document.getElementById(id).toDataURL())"
    before = driver.execute_script(pictures)
    over_cell(driver, 2, 1, click=True)
    assert text_of(driver, "pair-title") == "noise and proxy"
    assert "given the rest" in text_of(driver, "pair-facts")
    after = driver.execute_script(pictures)
    assert all(new != old for new, old in zip(after, before, strict=True))
    assert after[0] != after[1]
    assert driver.find_element("id", "raw").get_attribute("aria-label") == f"{ROWS} rows of noise against proxy"


@pytest.mark.slow
def test_the_keyboard_reaches_every_pair(opened, page):
    from selenium.webdriver.common.keys import Keys

    driver = opened(page)
    driver.find_element("css selector", "#order option[value=file]").click()
    canvas = driver.find_element("id", "cells")
    canvas.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert text_of(driver, "said").startswith("cause and noise: ")
    canvas.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)  # over the diagonal
    assert text_of(driver, "pair-title") == "outcome and noise"


@pytest.mark.slow
def test_the_tip_leaves_its_cell_in_view(opened, page):
    driver = opened(page)
    for row, column in ((0, 1), (3, 0), (3, 2)):
        over_cell(driver, row, column)
        tip = driver.execute_script(
            "const b = document.getElementById('tip').getBoundingClientRect(); return [b.top, b.bottom]"
        )
        cell = driver.execute_script(
            "return document.getElementById('cells').getBoundingClientRect().bottom - 2 - 52 * (4 - arguments[0])", row
        )
        assert tip[1] <= cell or tip[0] >= cell + 52


def test_tables_are_taken_along(opened, page, report):
    driver = opened(page)
    take = """
        const made = [];
        const create = URL.createObjectURL;
        URL.createObjectURL = (blob) => { made.push(blob); return create(blob); };
        document.querySelectorAll('.take').forEach((button) => button.click());
        const done = arguments[0];
        Promise.all(made.map((blob) => blob.text())).then(done);
    """
    texts = driver.execute_async_script(take)
    assert len(texts) == 10  # ranking, pairs, rest, columns and fit, each as CSV and JSON
    ranking = list(csv.DictReader(texts[0].splitlines()))
    assert [row["column"] for row in ranking if not row["given"]] == ["cause", "proxy", "noise"]
    pairs = json.loads(texts[3])
    assert len(pairs) == 6
    assert pairs[0]["information"] == pytest.approx(report.matrix.values[0, 1], rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "second", "caption"), [(3, 4, "quartiles"), (4, 5, "shares"), (0, 1, "median")])
def test_pairs_are_drawn_by_what_they_hold(opened, first, second, caption):
    rng = np.random.default_rng(0)
    frame = make_frame(grade=rng.integers(1, 4, ROWS) * 1.0, flag=rng.integers(0, 2, ROWS) * 1.0)
    holed = replace(frame, columns={k: np.where(np.arange(ROWS) == 9, np.nan, v) for k, v in frame.columns.items()})
    page = to_html(make_report(holed, "outcome", base="gaussian"))
    driver = opened(page)
    driver.execute_script("document.getElementById('table').open = true")
    driver.execute_async_script("setTimeout(arguments[0], 50)")
    driver.execute_script(f"document.querySelector('[data-pair=\"{first},{second}\"]').click()")
    assert caption in text_of(driver, "raw-caption")


def test_the_navigation_stays_and_phones_keep_the_numbers(opened, page):
    driver = opened(page, width=390)
    driver.execute_script("window.scrollTo({top: 2500, behavior: 'instant'})")
    assert driver.execute_script("return document.querySelector('nav').getBoundingClientRect().top") == 0
    cells = driver.find_elements("css selector", "#columns tbody td.ends")
    assert sum(cell.is_displayed() and "·" in cell.text for cell in cells) == 4


def test_ranking_graph_and_table_lead_to_pairs(opened, page):
    from selenium.webdriver.common.keys import Keys

    driver = opened(page)
    driver.execute_script("document.querySelector('.ranking [data-pair=\"2,3\"]').click()")
    assert text_of(driver, "pair-title") == "noise and outcome"
    driver.find_element("css selector", ".edge[data-pair='0,1']").send_keys(Keys.ENTER)
    assert text_of(driver, "pair-title") == "cause and proxy"
    driver.execute_script("document.getElementById('table').open = true")
    driver.find_element("id", "filter").send_keys("NOISE")
    rows = driver.find_elements("css selector", "#table-rows tr")
    assert len(rows) == 3
    assert all("noise" in row.text for row in rows)


@pytest.mark.slow
def test_hostile_names_run_nothing(opened, hostile_page):
    driver = opened(hostile_page)
    driver.execute_script("document.getElementById('table').open = true")
    driver.execute_script("document.querySelectorAll('.ranking [data-pair]').forEach((button) => button.click())")
    over_cell(driver, 0, 1)
    assert driver.title == "<b>data<b>.csv: a dependence report"
    assert driver.execute_script("return document.scripts.length") == 2
    assert driver.execute_script("return document.images.length") == 0
    assert '<script>document.title="owned"</script>' in driver.find_element("id", "ranking").text


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 390, 800])
def test_narrow_screens_scroll_inside_the_matrix_only(opened, page, hostile_page, width):
    for some in (page, hostile_page):
        driver = opened(some, width=width)
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_dark_pages_are_dark(opened, page):
    def lightness(driver):
        colour = driver.execute_script("return getComputedStyle(document.body).backgroundColor")
        corner = "const c = document.getElementById('cells'); const d = c.getContext('2d'); "
        corner += "return [...d.getImageData(c.width - 8, c.height - 4 * 52 + 4, 1, 1).data]"
        return np.mean([float(v) for v in re.findall(r"\d+", colour)]), driver.execute_script(corner)

    light, light_cell = lightness(opened(page))
    dark, dark_cell = lightness(opened(page, dark=True))
    assert light > 240
    assert dark < 40
    assert light_cell != dark_cell
