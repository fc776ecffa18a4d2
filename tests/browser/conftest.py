"""Pages in a real browser: one Chromium for all tests, without a network but for this machine itself."""

import json
import os
import pathlib
import re
import subprocess
import time

import pytest

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
except ImportError:
    webdriver = None

PROGRAM = os.environ.get("ESPALIER_PROGRAM", "espalier")
# Where it is not, pages are checked without it. It is got by: npm install --no-save --prefix build/axe axe-core@4
AXE = pathlib.Path(os.environ.get("ESPALIER_AXE") or
                   pathlib.Path(__file__).parents[2] / "build/axe/node_modules/axe-core/axe.min.js")


def run(folder, *arguments):
    """The program, in a folder."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Page:
    """What a test sees of the page that the browser shows."""

    def __init__(self, driver):
        self.driver = driver

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def size(self, width, height=900):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})

    def media(self, dark=False, printed=False):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "media": "print" if printed else "",
            "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                         {"name": "prefers-reduced-motion", "value": "reduce"}]})

    def open(self, address, width=1100, dark=False):
        self.size(width)
        self.media(dark)
        self.driver.get_log("performance")
        self.driver.get_log("browser")
        self.driver.get(address if ":" in str(address) else pathlib.Path(address).as_uri())
        return self

    def complaints(self):
        """What the browser said on its console, such as scripts that failed or requests that a policy forbade."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """What the page asked for since it was opened, but for itself and what it has in itself."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated"):
                address = message["params"].get("request", message["params"])["url"]
                if not address.startswith(("data:", "blob:")) and address.split("#")[0] != self.driver.current_url.split("#")[0]:
                    found.append(address)
        return found

    def overflow(self):
        """By how many pixels the page is wider than its window."""
        return self.script("return document.documentElement.scrollWidth - window.innerWidth")

    def chart(self, title):
        """The figure of this title."""
        for figure in self.all("figure.chart"):
            if figure.find_element("css selector", ".drawing svg").get_attribute("aria-label") == title:
                return figure
        raise AssertionError(f"no chart is called {title}")

    def marks(self, figure):
        """What the marks of a chart say they show, a dictionary each."""
        return self.script("return [...arguments[0].querySelectorAll('.mark')].map((mark) => ({...mark.dataset}))", figure)

    def bring(self, node):
        """Scrolls to a node; what follows from that is over, such as tooltips that go."""
        self.driver.execute_async_script("""
            const [node, done] = arguments;
            node.scrollIntoView({block: 'center', behavior: 'instant'});
            requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)));""", node)

    def wait(self, condition, seconds=10):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "waited in vain"
            time.sleep(0.02)


@pytest.fixture(scope="session")
def page():
    if webdriver is None:
        pytest.skip("no python3-selenium")
    options = Options()
    options.binary_location = os.environ.get("ESPALIER_CHROMIUM", "/usr/bin/chromium")
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--disable-background-networking", "--no-first-run"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(os.environ.get("ESPALIER_CHROMEDRIVER", "/usr/bin/chromedriver")))
    yield Page(driver)
    driver.quit()


def luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    """Of two colours as CSS computes them, as WCAG defines it."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def check_accessibility(page):
    """What no page may lack, checked without any library; and by axe-core, where it is."""
    assert len(page.all("h1")) == 1
    assert page.script("return document.documentElement.lang") == "en"
    wrong = page.script("""
        const wrong = [];
        for (const svg of document.querySelectorAll('figure.chart svg[role]')) {
          if (svg.getAttribute('role') !== 'img' || !svg.getAttribute('aria-label')) wrong.push('a chart without a name');
          if (svg.tabIndex !== 0) wrong.push('a chart that keys do not reach');
        }
        for (const table of document.querySelectorAll('table')) {
          if (!table.querySelector('thead th[scope=col]')) wrong.push('a table without headers');
          if (!table.caption) wrong.push('a table without a caption');
        }
        for (const input of document.querySelectorAll('input, select, textarea')) {
          if (!input.labels.length && !input.getAttribute('aria-label')) wrong.push('an input without a label');
        }
        for (const button of document.querySelectorAll('button')) {
          if (!button.textContent.trim() && !button.getAttribute('aria-label')) wrong.push('a button without a name');
        }
        const ids = [...document.querySelectorAll('[id]')].map((node) => node.id);
        if (new Set(ids).size < ids.length) wrong.push('an id twice');
        let before = 1;
        for (const heading of document.querySelectorAll('h1, h2, h3, h4')) {
          if (heading.closest('[hidden]')) continue;
          const level = Number(heading.tagName[1]);
          if (level > before + 1) wrong.push(`a heading of level ${level} after ${before}`);
          before = level;
        }
        return wrong;""")
    assert wrong == []
    if not AXE.exists():
        return
    page.driver.execute_cdp_cmd("Page.setBypassCSP", {"enabled": True})
    page.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE.read_text()})
    found = page.driver.execute_async_script(
        "const done = arguments[0]; axe.run().then((r) => done(r.passes.length > 0 ? r.violations : [{id: 'nothing was checked', impact: 'serious', nodes: []}]), (e) => done([{id: String(e), impact: 'serious', nodes: []}]));")
    serious = [(v["id"], [node["html"][:200] for node in v["nodes"]][:3]) for v in found if v["impact"] in ("serious", "critical")]
    assert serious == []
