"""Reports: what the charts show is what the run logged, in every shape that a page may have."""

import base64
import hashlib
import json
import math
import re

import pytest

from conftest import check_accessibility, contrast, run


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    run(folder, "generate", "tag", "-n", 150, "--seed", 1, "-o", "train.txt")
    run(folder, "generate", "tag", "-n", 60, "--seed", 2, "-o", "dev.txt")
    train = ["tag", "train.txt", "--dev", "dev.txt", "--quiet", "--seed", 1]
    values = ["--l2-max", 10, "--l2-min", 0.1, "--factor", 0.1]
    run(folder, "train", *train, "--report-every", 1, "-o", "model.esp", "--log", "train.jsonl")
    run(folder, "path", *train, *values, "--log", "path.jsonl")
    run(folder, "cross-validate", "tag", "train.txt", "--quiet", "--folds", 3, *values, "--log", "folds.jsonl")
    run(folder, "race", *train, "--solvers", "eg,lbfgs", "--gap", 1e-3, "--log", "race.jsonl")
    run(folder, "report", "model.esp", "--log", "train.jsonl", "path.jsonl", "folds.jsonl", "race.jsonl", "-o", "report.html")
    return folder


@pytest.fixture()
def report(page, folder):
    page.open(folder / "report.html")
    return page


def events(path, kind):
    return [event for event in map(json.loads, path.read_text().splitlines()) if event["event"] == kind]


def pairs(marks, name=None):
    """Coordinates of marks, those of one line."""
    return [(float(mark["x"]), float(mark["y"])) for mark in marks if name is None or mark["name"] == name]


def near(wanted, rel=1e-6):
    """The same pairs but for rounding."""
    class Pairs:
        def __eq__(self, found):
            flat = lambda pairs: [number for pair in pairs for number in pair]
            return len(found) == len(wanted) and flat(found) == pytest.approx(flat(wanted), rel=rel)

        def __repr__(self):
            return repr(wanted)
    return Pairs()


def test_asks_for_nothing_and_complains_of_nothing(report):
    report.wait(lambda: report.all("figure.chart"))
    assert report.complaints() == []
    assert report.requests() == []


def test_the_policy_forbids_requests(report):
    blocked = report.driver.execute_async_script("""
        const done = arguments[0];
        document.addEventListener("securitypolicyviolation", (event) => done(event.effectiveDirective), {once: true});
        fetch("http://127.0.0.1:9/").then(() => done("fetched"), () => {});""")
    assert blocked == "connect-src"
    report.script("const s = document.createElement('script'); s.textContent = 'window.broken = 1'; document.body.append(s);")
    assert report.script("return window.broken === undefined")
    report.complaints()


def test_scripts_are_those_of_the_policy(folder):
    html = (folder / "report.html").read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1)
    for element, directive in (("script", "script-src"), ("style", "style-src")):
        allowed = re.search(directive + r" ([^;]*)", policy).group(1)
        found = re.findall(rf"<{element}>(.*?)</{element}>", html, re.DOTALL)
        assert found
        for text in found:
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in allowed
        assert len(allowed.split()) == len(found)


def test_charts_of_training_show_its_log(report, folder):
    log = events(folder / "train.jsonl", "progress")
    for chart, x in (("Gap by passes", "pass"), ("Gap by seconds", "seconds")):
        marks = pairs(report.marks(report.chart(chart)))
        wanted = [(event[x], event["relative_gap"]) for event in log if event[x] > 0 and event["relative_gap"] > 0]
        assert marks == near(wanted)
    marks = report.marks(report.chart("Primal and dual by passes"))
    for name in ("primal", "dual"):
        assert pairs(marks, name) == near([(e["pass"], e[name]) for e in log if e[name] > 0])
    marks = report.marks(report.chart("Held-out data by passes"))
    assert pairs(marks, "f1") == near([(e["pass"], e["dev"]["f1"]) for e in log])


def test_points_are_where_their_numbers_are(report):
    """On log axes equal factors are equal distances."""
    figure = report.chart("Gap by passes")
    places = report.script("""return [...arguments[0].querySelectorAll('.mark')].map((m) =>
        [Number(m.dataset.x), Number(m.dataset.y), Number(m.getAttribute('cx')), Number(m.getAttribute('cy'))])""", figure)
    (x0, y0, left0, top0), (x1, y1, left1, top1) = places[0], places[-1]
    for x, y, left, top in places:
        assert left == pytest.approx(left0 + math.log(x / x0) / math.log(x1 / x0) * (left1 - left0), abs=0.2)
        assert top == pytest.approx(top0 + math.log(y / y0) / math.log(y1 / y0) * (top1 - top0), abs=0.2)
    assert top1 > top0 and left1 > left0


def test_a_path_marks_what_was_chosen(report, folder):
    chosen = events(folder / "path.jsonl", "end")[0]["l2"]
    last = {event["l2"]: event for event in events(folder / "path.jsonl", "progress")}
    for title, value in (("Held-out data by l2", lambda e: e["dev"]["f1"]), ("Gap by l2", lambda e: e["relative_gap"])):
        figure = report.chart(title)
        assert dict(pairs(report.marks(figure))) == pytest.approx({l2: value(event) for l2, event in last.items()}, rel=1e-6)
        rules = report.script("return [...arguments[0].querySelectorAll('.rule')].map((rule) => rule.dataset.x)", figure)
        assert [float(rule) for rule in rules] == [chosen]


def test_folds_have_their_means_and_deviations(report, folder):
    values = events(folder / "folds.jsonl", "end")[0]["values"]
    figure = report.chart("Folds")
    marks = report.marks(figure)
    assert dict(pairs(marks, "mean")) == pytest.approx({value["l2"]: value["mean"] for value in values})
    deviations = report.script("return [...arguments[0].querySelectorAll('.whisker')].map((w) => Number(w.dataset.deviation))", figure)
    assert deviations == pytest.approx([value["deviation"] for value in values])
    assert {mark["name"] for mark in marks} == {"mean", "fold 1", "fold 2", "fold 3"}


def test_a_race_has_all_solvers(report, folder):
    race = events(folder / "race.jsonl", "race")[0]
    figure = report.chart("Distance from the optimum by passes")
    for solver in ("eg", "lbfgs"):
        log = [event for event in events(folder / "race.jsonl", "progress") if event["solver"] == solver]
        wanted = [(e["pass"], (e["primal"] - race["optimum"]["lower"]) / e["primal"]) for e in log]
        assert pairs(report.marks(figure), solver) == near(wanted, 1e-4)
    legend = [item.text for item in figure.find_elements("css selector", ".legend li")]
    assert legend == ["eg", "lbfgs"]


def test_tooltips_by_pointer_and_by_keyboard(report):
    figure = report.chart("Gap by passes")
    svg = figure.find_element("css selector", ".drawing svg")
    report.bring(svg)
    mark = figure.find_elements("css selector", ".mark")[1]
    box = report.script("const b = arguments[0].getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]", mark)
    report.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": box[0] + 1, "y": box[1]})
    report.wait(lambda: report.all(".tooltip") and report.find(".tooltip").is_displayed())
    text = report.find(".tooltip").text
    assert "passes: " in text and "relative gap: " in text
    report.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": 1, "y": 1})
    report.wait(lambda: not report.find(".tooltip").is_displayed())

    report.script("arguments[0].focus({preventScroll: true})", svg)
    for key, place in (("ArrowRight", 0), ("ArrowRight", 1), ("End", -1), ("Home", 0)):
        report.script("arguments[0].dispatchEvent(new KeyboardEvent('keydown', {key: arguments[1], bubbles: true, cancelable: true}))", svg, key)
        marks = figure.find_elements("css selector", ".mark")
        active = figure.find_elements("css selector", ".mark.active")
        assert active == [marks[place]]
        assert report.find(".tooltip").is_displayed()
    report.script("arguments[0].dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))", svg)
    assert not report.find(".tooltip").is_displayed()


def test_tables_sort(report):
    table = next(t for t in report.all("table") if t.find_elements("css selector", "caption")
                 and t.find_element("css selector", "caption").text == "Values of l2")
    column = lambda: [float(cell.text) for cell in table.find_elements("css selector", "tbody tr > :first-child")]
    header = table.find_element("css selector", "th")
    header.find_element("css selector", "button").click()
    assert header.get_attribute("aria-sort") == "descending"
    assert column() == [10, 1, 0.1]
    header.find_element("css selector", "button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    assert column() == [0.1, 1, 10]


def test_numbers_of_a_chart_are_in_a_table(report, folder):
    figure = report.chart("Gap by l2")
    figure.find_element("css selector", "summary").click()
    report.wait(lambda: figure.find_elements("css selector", "table"))
    assert len(figure.find_elements("css selector", "tbody tr")) == len(report.marks(figure))


def test_phones(page, folder):
    page.open(folder / "report.html", width=390)
    assert page.overflow() <= 0
    assert page.script("return [...document.querySelectorAll('figure.chart .drawing svg')].every((s) => s.getBoundingClientRect().width > 200)")
    assert page.complaints() == []


def test_charts_follow_the_window(page, folder):
    page.open(folder / "report.html", width=1100)
    width = lambda: page.script("return document.querySelector('.drawing svg').getBoundingClientRect().width")
    wide = width()
    page.size(390)
    page.wait(lambda: width() < wide)
    assert page.overflow() <= 0


def test_print_is_light_and_fits(page, folder):
    page.open(folder / "report.html", dark=True)
    page.media(dark=True, printed=True)
    ground = page.script("return getComputedStyle(document.body).backgroundColor")
    assert contrast(ground, "rgb(0, 0, 0)") > 20
    assert not page.find("#theme").is_displayed() and not page.find("nav").is_displayed()
    page.media()
    pdf = page.driver.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    assert base64.b64decode(pdf["data"]).startswith(b"%PDF")


def test_light_and_dark(page, folder):
    ground = lambda: page.script("return getComputedStyle(document.body).backgroundColor")
    page.open(folder / "report.html", dark=False)
    light = ground()
    page.open(folder / "report.html", dark=True)
    dark = ground()
    assert contrast(light, dark) > 10
    assert page.find("#theme").text == "Light"
    page.find("#theme").click()
    assert ground() == light and page.find("#theme").text == "Dark"
    page.find("#theme").click()
    assert ground() == dark


@pytest.mark.parametrize("dark", [False, True])
def test_colours_have_contrast(page, folder, dark):
    page.open(folder / "report.html", dark=dark)
    colours = page.script("""
        const probe = document.createElement('span'), result = {};
        document.body.append(probe);
        for (const name of ['ground', 'raised', 'text', 'faint', 'link', 'accent', ...[0, 1, 2, 3, 4, 5, 6, 7].map((k) => `c${k}`)]) {
          probe.style.color = `var(--${name})`;
          result[name] = getComputedStyle(probe).color;
        }
        return result;""")
    for text in ("text", "faint", "link", "accent"):
        for ground in ("ground", "raised"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    assert len({colours[f"c{k}"] for k in range(8)}) == 8
    for k in (0, 1, 2, 6):  # lines have dashes, too
        assert contrast(colours[f"c{k}"], colours["ground"]) >= 3, k


@pytest.mark.parametrize("dark", [False, True])
def test_accessibility(page, folder, dark):
    page.open(folder / "report.html", dark=dark)
    check_accessibility(page)
    page.complaints()


def test_hostile_names_are_text(page, folder):
    label, word = '"><img/src=x/onerror=window.broken=1>', "</script><script>window.broken=1</script>"
    model, log = "<script>window.broken=1<!--.esp", "a&b\u2028<i>.jsonl"
    (folder / "evil.txt").write_text(f"{word} {label}\nb O\n\n{word} {label}\nc O\n")
    run(folder, "train", "tag", "evil.txt", "--quiet", "-o", model, "--log", log)
    run(folder, "report", model, "--log", log, "-o", "evil.html")
    page.open(folder / "evil.html")
    assert page.find("h1").text == model
    assert page.driver.title == model
    assert page.script("return window.broken === undefined")
    assert not page.all("img") and len(page.all("body script")) == len(re.findall("<script", (folder / "report.html").read_text()))
    assert page.requests() == [] and page.complaints() == []
    assert page.overflow() <= 0
