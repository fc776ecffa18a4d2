"""What reports show of errors and weights: read back from the page, and the same as in its numbers."""

import base64
import collections
import json
import os
import pathlib
import struct

import pytest

from conftest import check_accessibility, run

TASKS = ("tag", "classify", "parse", "treebank", "graph")
OPTIONS = {"tag": [], "classify": ["--format", "crfsuite", "--l2", 4], "parse": ["--l2", 10, "--hash-bits", 14],
           "treebank": ["--gap", 1e-2, "--hash-bits", 12], "graph": []}
PICTURE = pathlib.Path(__file__).parents[2] / "docs/pictures/report.png"


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """A report for each task: its page and its numbers."""
    folder = tmp_path_factory.mktemp("quality")
    for task in TASKS:
        run(folder, "generate", task, "-n", 150 if task in ("tag", "classify") else 60, "--seed", 1, "-o", f"{task}.train")
        run(folder, "generate", task, "-n", 60 if task in ("tag", "classify") else 25, "--seed", 2, "-o", f"{task}.test")
        run(folder, "train", task, f"{task}.train", "--quiet", *OPTIONS[task], "-o", f"{task}.esp")
        report = ["report", f"{task}.esp", "--data", f"{task}.test"]
        run(folder, *report, "-o", f"{task}.html")
        run(folder, *report, "--json", "-o", f"{task}.json")
    return folder


def opened(page, reports, task, **how):
    page.open(reports / f"{task}.html", **how)
    return json.loads((reports / f"{task}.json").read_text())


def choose(page, label, value):
    """Chooses an option of the menu with this label; by its text."""
    page.script("""
        const [label, value] = arguments;
        const select = [...document.querySelectorAll('label')].find((l) => l.firstChild.textContent === label).querySelector('select');
        select.value = [...select.options].find((o) => o.textContent === value).value;
        select.dispatchEvent(new Event('change'));""", label, value)


def type_into(page, label, text):
    page.script("""
        const input = [...document.querySelectorAll('label')].find((l) => l.firstChild.textContent === arguments[0]).querySelector('input');
        input.value = arguments[1];
        input.dispatchEvent(new Event('input'));""", label, text)


def bars(page, title):
    return {mark["name"]: float(mark["value"]) for mark in page.marks(page.chart(title))}


def cells(page, title):
    return {(mark["row"], mark["column"]): float(mark["value"]) for mark in page.marks(page.chart(title)) if mark["value"] != ""}


def tooltip_over(page, node):
    page.bring(node)
    box = page.script("const b = arguments[0].getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]", node)
    page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": 1, "y": 1})
    page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": box[0], "y": box[1]})
    page.wait(lambda: page.all(".tooltip") and page.find(".tooltip").is_displayed())
    return page.find(".tooltip").text


def tokens(page):
    """Of each sentence that is shown: words with gold and predicted label."""
    return page.script("""return [...document.querySelectorAll('.examples > li')].map((li) => [...li.querySelectorAll('.token')].map(
        (t) => [t.querySelector('.word').textContent, t.dataset.gold, t.dataset.predicted, t.classList.contains('wrong')]))""")


@pytest.mark.parametrize("task", TASKS)
def test_every_page_is_sound(page, reports, task):
    for width, dark in ((1100, False), (390, True)):
        opened(page, reports, task, width=width, dark=dark)
        page.wait(lambda: page.all(".examples > li") and page.all("#learnt figure.chart"))
        assert page.overflow() <= 0
        assert page.requests() == [] and page.complaints() == []
        check_accessibility(page)
        page.complaints()
    assert (reports / f"{task}.html").stat().st_size < 2_000_000


def test_pages_print(page, reports):
    opened(page, reports, "parse")
    page.media(printed=True)
    for name in (".controls", "nav"):
        assert not page.find(name).is_displayed()
    width = page.script("return Math.max(...[...document.querySelectorAll('.drawing svg')].map((s) => s.getBoundingClientRect().right))")
    assert width <= page.script("return window.innerWidth")
    page.media()
    pdf = page.driver.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})
    assert base64.b64decode(pdf["data"]).startswith(b"%PDF")


def test_confusions_sort_and_lead_to_their_errors(page, reports):
    quality = opened(page, reports, "tag")["quality"]
    confusion = quality["confusion"]
    labels = confusion["labels"]
    wanted = {(gold, found): confusion["counts"][g][f] for g, gold in enumerate(labels) for f, found in enumerate(labels)}
    order = lambda: list(dict.fromkeys(mark["row"] for mark in page.marks(page.chart("Confusion matrix"))))
    assert cells(page, "Confusion matrix") == wanted
    assert order() == labels
    choose(page, "Sort by", "name")
    assert order() == sorted(labels) and cells(page, "Confusion matrix") == wanted
    choose(page, "Sort by", "errors")
    wrong = {label: sum(wanted[label, o] + wanted[o, label] for o in labels if o != label) for label in labels}
    assert [wrong[label] for label in order()] == sorted(wrong.values(), reverse=True)

    gold, found = max((pair for pair in wanted if pair[0] != pair[1]), key=wanted.get)
    cell = next(mark for mark in page.chart("Confusion matrix").find_elements("css selector", ".mark")
                if (mark.get_attribute("data-row"), mark.get_attribute("data-column")) == (gold, found))
    assert f"gold {gold}, predicted {found}" in tooltip_over(page, cell)
    cell.click()
    shown = tokens(page)
    assert shown and all(any(t[1] == gold and t[2] == found for t in sentence) for sentence in shown)
    choose(page, "Gold", "any")
    choose(page, "Predicted", "any")
    assert len(tokens(page)) == min(20, quality["errors"]["shown"])


def test_errors_are_in_their_sentences(page, reports):
    quality = opened(page, reports, "tag")["quality"]
    labels, errors = quality["labels"], quality["errors"]["list"]
    assert len(errors) > 3
    wanted = [[[word, labels[gold], labels[found], gold != found] for word, gold, found in zip(one["words"], one["gold"], one["predicted"])]
              for one in errors]
    assert tokens(page) == wanted[:20]
    node = page.find(".examples .token.wrong")
    text = tooltip_over(page, node)
    at = next(t for t, token in enumerate(wanted[0]) if token[3])
    label, probability = errors[0]["likely"][str(at)][0]
    assert f"predicted {wanted[0][at][2]}, gold {wanted[0][at][1]}" in text and labels[label] in text and "%" in text
    assert float(text.split(f"\n{labels[label]} ")[1].split(" %")[0]) == pytest.approx(100 * probability, abs=0.05)
    page.script("arguments[0].focus({preventScroll: true})", node)
    assert page.find(".tooltip").is_displayed()

    word = wanted[1][0][0]
    type_into(page, "Text", word)
    assert tokens(page) == [one for one in wanted if word.lower() in " ".join(token[0] for token in one).lower()][:20]
    type_into(page, "Text", "nobody says this")
    assert tokens(page) == []


def test_accuracy_and_calibration(page, reports):
    quality = opened(page, reports, "tag")["quality"]
    marks = page.marks(page.chart("Calibration"))
    assert [(float(m["x"]), float(m["y"]), int(m["size"])) for m in marks] == \
        [(b["confidence"], b["accuracy"], b["count"]) for b in quality["calibration"]["bins"]]
    assert list(bars(page, "Accuracy by length of sentence").values()) == \
        pytest.approx([one["correct"] / one["tokens"] for one in quality["lengths"]])
    words = quality["words"]
    assert bars(page, "Accuracy by whether training had the word") == pytest.approx(
        {"known": words["seen"]["correct"] / words["seen"]["tokens"], "unknown": words["unseen"]["correct"] / words["unseen"]["tokens"]})
    table = next(t for t in page.all("table") if t.find_element("css selector", "caption").text == "By type")
    rows = [[cell.text for cell in row.find_elements("css selector", "th, td")] for row in table.find_elements("css selector", "tbody tr")]
    assert {row[0]: int(row[6]) for row in rows} == {name: of["correct"] for name, of in quality["report"]["types"].items()}


def test_what_it_learnt(page, reports):
    learnt = opened(page, reports, "tag")["learnt"]
    labels = learnt["labels"]
    for one in (learnt["strongest"][0], learnt["strongest"][-1]):
        name = labels[one["label"]]
        choose(page, "Label", name)
        assert bars(page, f"Strongest for {name}") == dict(one["positive"])
        assert bars(page, f"Strongest against {name}") == dict(one["negative"])
    matrix = learnt["transitions"][0]
    names = [labels[k] for k in matrix["labels"]]
    assert cells(page, f"Weights of neighbouring labels: {matrix['attribute']}") == \
        {(names[r], names[c]): matrix["values"][r][c] for r in range(len(names)) for c in range(len(names))}
    shares = bars(page, "What a template contributes to the scores")
    assert shares == {one["name"]: one["share"] for one in learnt["templates"]}
    assert sum(shares.values()) == pytest.approx(1, abs=0.01)
    histogram = page.marks(page.chart("How heavy weights are"))
    assert [int(mark["count"]) for mark in histogram] == learnt["weights"]["histogram"]["counts"]
    choose(page, "Template", "w[0]")
    strongest = next(one for one in learnt["templates"] if one["name"] == "w[0]")["strongest"]
    assert list(bars(page, "Strongest weights of w[0]").values()) == [weight for _, _, weight in strongest]


def test_search_over_attributes(page, reports):
    learnt = opened(page, reports, "tag")["learnt"]
    rows = lambda: page.script("""return [...document.querySelectorAll('#found tbody tr')].map((row) => [...row.children].map((c) => c.textContent))""")
    all_names = [name for name, _ in learnt["search"]["attributes"]]
    assert [row[0] for row in rows()] == all_names[:50]
    type_into(page, "Search", "SUFFIX2=  a")
    wanted = [name for name in all_names if "suffix2=" in name.lower() and "a" in name.lower()]
    assert [row[0] for row in rows()] == wanted[:50] and wanted
    page.script("document.querySelectorAll('#found th button')[0].click()")
    assert [row[0] for row in rows()] != wanted[:50] and sorted(row[0] for row in rows()) == sorted(wanted[:50])
    type_into(page, "Search", "nothing is called so")
    assert rows() == []


def test_classes(page, reports):
    quality = opened(page, reports, "classify")["quality"]
    assert bars(page, "Most confused pairs") == {f"{one['gold']} → {one['predicted']}": one["count"] for one in quality["confused"]}
    first, pair = quality["errors"]["list"][0], quality["labels"]
    assert tokens(page)[0] == [[f"example {first['number']}", pair[first["gold"]], pair[first["predicted"]], True]]
    shown = page.find(".examples .sentence").text
    assert all((a if isinstance(a, str) else a[0]) in shown for a in first["attributes"])
    pair = quality["confused"][0]
    page.script("arguments[0].dispatchEvent(new MouseEvent('click', {bubbles: true}))", page.chart("Most confused pairs").find_element("css selector", ".mark"))
    assert {tuple(token[1:3]) for sentence in tokens(page) for token in sentence} == {(pair["gold"], pair["predicted"])}
    choose(page, "Gold", "any")
    choose(page, "Predicted", "any")
    more = next(button for button in page.all("#quality button") if button.text == "More")
    page.script("arguments[0].click()", more)
    assert len(page.all(".examples > li")) == min(40, quality["errors"]["shown"])


def test_dependency_trees(page, reports):
    quality = opened(page, reports, "parse")["quality"]
    labels = quality["labels"]
    drawn = page.script("return [...document.querySelectorAll('.examples > li')].map((li) => [...li.querySelectorAll('.arc')].map((a) => ({...a.dataset})))")
    assert len(drawn) == min(20, quality["errors"]["shown"]) > 2
    for arcs, one in zip(drawn, quality["errors"]["list"]):
        found = {(int(arc["head"]), int(arc["word"]), arc["kind"]) for arc in arcs}
        wanted = set()
        for word, (gold, predicted, relation, other) in enumerate(zip(one["heads"], one["predicted"], one["relations"], one["predicted_relations"]), 1):
            if gold != predicted:
                wanted |= {(predicted, word, "wrong"), (gold, word, "missing")}
            else:
                wanted.add((gold, word, "right" if relation == other else "relabelled"))
        assert found == wanted
        right = [arc for arc in arcs if arc["kind"] == "right"]
        assert all(arc["relation"] == labels[one["relations"][int(arc["word"]) - 1]] for arc in right)
    svg = page.find(".examples .drawing svg")
    page.bring(svg)
    page.script("arguments[0].focus({preventScroll: true})", svg)
    page.script("arguments[0].dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true, cancelable: true}))", svg)
    assert "←" in page.find(".tooltip").text
    for caption, _, rows in quality["attachment"]:
        table = next(t for t in page.all("table") if t.find_element("css selector", "caption").text == caption)
        assert len(table.find_elements("css selector", "tbody tr")) == len(rows)


def test_phrase_trees(page, reports):
    quality = opened(page, reports, "treebank")["quality"]

    def brackets(tree):
        found = collections.Counter()

        def walk(node, begin):
            if isinstance(node[1], str):
                return begin + 1
            end = begin
            for child in node[1:]:
                end = walk(child, end)
            found[node[0], begin, end] += 1
            return end

        walk(tree, 0)
        return found

    drawn = page.script("""return [...document.querySelectorAll('.examples > li')].map((li) => [...li.querySelectorAll('svg')].map(
        (svg) => [...svg.querySelectorAll('.phrase')].map((p) => [p.dataset.label, Number(p.dataset.begin), Number(p.dataset.end), p.dataset.kind])))""")
    assert drawn
    for (predicted, gold), one in zip(drawn, quality["errors"]["list"]):
        assert collections.Counter((l, b, e) for l, b, e, _ in predicted) == brackets(one["predicted"])
        assert collections.Counter((l, b, e) for l, b, e, _ in gold) == brackets(one["gold"])
        assert collections.Counter((l, b, e) for l, b, e, kind in predicted if kind == "wrong") == brackets(one["predicted"]) - brackets(one["gold"])
        assert collections.Counter((l, b, e) for l, b, e, kind in gold if kind == "missing") == brackets(one["gold"]) - brackets(one["predicted"])
    points = {(float(mark["x"]), float(mark["y"])) for mark in page.marks(page.chart("Calibration"))}
    assert points == {(bin["confidence"], bin["accuracy"]) for bin in quality["calibration"]["bins"]}
    shares = json.loads((reports / "treebank.json").read_text())["learnt"]["shares"]
    assert bars(page, "What a template contributes to the scores") == shares


def test_graphs(page, reports):
    quality = opened(page, reports, "graph")["quality"]
    labels = quality["labels"]
    drawn = page.script("""return [...document.querySelectorAll('.examples > li')].map((li) => [...li.querySelectorAll('.node')].map(
        (n) => [n.dataset.gold, n.dataset.predicted, n.classList.contains('wrong'), Number(n.getAttribute('cx')), Number(n.getAttribute('cy'))]))""")
    for nodes, one in zip(drawn, quality["errors"]["list"]):
        assert [node[:3] for node in nodes] == [[labels[g], labels[p], g != p] for g, p in zip(one["gold"], one["predicted"])]
        step = nodes[1][3] - nodes[0][3]
        for (x, y), node in zip(one["positions"], nodes):
            assert (node[3], node[4]) == pytest.approx((nodes[0][3] + step * x, nodes[0][4] + step * y))
    assert "node 0" in tooltip_over(page, page.find(".examples .node"))


def test_hostile_data_is_text(page, reports):
    script, image = "<script>window.broken=1</script>", '"><img/src=x/onerror=window.broken=1>'
    (reports / "evil.train").write_text(f"{script} {image}\nb O\n\n{image} {image}\nc {script}\n")
    (reports / "evil <b>&.test").write_text(f"{script} O\nb {image}\n\n{image} {script}\nc O\n{script} {image}\n")
    run(reports, "train", "tag", "evil.train", "--quiet", "-o", "evil.esp")
    run(reports, "report", "evil.esp", "--data", "evil <b>&.test", "-o", "evil.html")
    (reports / "evil.classes").write_text(f"{script}\t{image}\n{image}\t{script}\n")
    (reports / "evil.gold").write_text(f"{script}\t{script}\n{image}\t{image}\n")
    run(reports, "train", "classify", "evil.classes", "--format", "crfsuite", "--quiet", "-o", "classes.esp")
    run(reports, "report", "classes.esp", "--data", "evil.gold", "-o", "classes.html")
    for name in ("evil.html", "classes.html"):
        page.open(reports / name)
        assert page.script("return window.broken === undefined")
        assert not page.all("img") and not page.all("section script")
        assert page.requests() == [] and page.complaints() == []
        assert page.overflow() <= 0
        assert {label for sentence in tokens(page) for token in sentence for label in token[1:3]} >= {script, image}
        assert any(script in row.text for row in page.all("#found tbody tr"))
        tooltip_over(page, page.find(".examples .token.wrong"))
        assert not page.all(".tooltip *")


def test_picture_of_the_readme(page, reports):
    """Written anew with ESPALIER_WRITE_DOCS=1."""
    opened(page, reports, "tag", width=1000)
    page.wait(lambda: page.all(".examples > li"))
    top = page.script("return document.querySelector('#quality .grid').getBoundingClientRect().top + scrollY")

    def shot(y, height):
        clip = {"x": 0, "y": y, "width": 1000, "height": height, "scale": 0.8}
        return base64.b64decode(page.driver.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})["data"])

    bottom = page.script("return document.querySelector('.examples > li:nth-child(2)').getBoundingClientRect().bottom + scrollY")
    picture = shot(top, round(bottom - top + 8))
    assert len(picture) < 150_000
    if os.environ.get("ESPALIER_WRITE_DOCS"):
        PICTURE.write_bytes(picture)
    kept = PICTURE.read_bytes()
    assert len(kept) < 150_000
    for png in (picture, kept):  # how high depends on the machine's fonts
        assert png[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">I", png[16:20]) == (800,)
