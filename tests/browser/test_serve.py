"""The page of `espalier serve`: what it shows is what the server answers, and what it is told changes that."""

import contextlib
import json
import re
import signal
import subprocess
import urllib.request

import pytest

from conftest import PROGRAM, check_accessibility, contrast, run

EVIL = "<img/src=x/onerror=alert(1)>"


@contextlib.contextmanager
def server(folder, *arguments):
    """The address of a server that ends, and well, after the test."""
    process = subprocess.Popen([PROGRAM, "serve", *map(str, arguments), "--port", "0"], cwd=folder, stderr=subprocess.PIPE, text=True)
    try:
        lines = iter(process.stderr.readline, "")
        yield next(re.search(r"http://127\.0\.0\.1:\d+/", line).group(0) for line in lines if "serving" in line)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=10)
    assert process.returncode == 0


def predict(address, question):
    request = urllib.request.Request(address + "v1/predict", json.dumps(question).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as response:
        return json.load(response)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve")
    run(folder, "generate", "tag", "-n", 100, "--seed", 1, "-o", "train.txt")
    lines = (folder / "train.txt").read_text().splitlines()
    for name, column in (("pos", 1), ("words", 2)):
        fields = (line.split("\t") for line in lines)
        (folder / f"{name}.txt").write_text("".join(f"{f[0]}\t{f[column]}\n" if len(f) > 1 else "\n" for f in fields))
        run(folder, "train", "tag", f"{name}.txt", "--quiet", "--gap", 0.05, "-o", f"{name}.esp")
    return folder


def write(page, text):
    page.script("""const input = document.getElementById("input");
        input.value = arguments[0];
        input.dispatchEvent(new Event("input"));""", text)


def labels(page):
    return page.script("return [...document.querySelectorAll('.token')].map((t) => t.dataset.label)")


def test_tags(page, folder):
    with server(folder, "words.esp") as address:
        page.open(address)
        page.wait(lambda: page.find("#title").text == "words.esp")
        text = "Mr. Tremley flew to Paris. It rained."
        write(page, text)
        page.wait(lambda: page.all(".token"))
        sentences = predict(address, {"text": text, "marginals": True})["sentences"]
        assert labels(page) == [label for sentence in sentences for label in sentence["labels"]]
        shown = page.script("return [...document.querySelectorAll('.token')].map((t) => t.firstChild.textContent)")
        assert shown == [token for sentence in sentences for token in sentence["tokens"]]

        # A label that is given stays, and the rest is what it is given that.
        page.all(".token")[1].click()
        page.wait(lambda: page.all("#reasons td code"))
        why = predict(address, {"text": text, "explain": {"token": 1}})["sentences"][0]["explanation"]
        most = why["contributions"][0]
        assert page.all("#reasons td code")[0].text == (f"{most['before'][0]} → {why['label']}" if "before" in most else most["attribute"])
        page.script("const s = document.getElementById('label'); s.value = 'B-ORG'; s.dispatchEvent(new Event('change'))")
        page.wait(lambda: labels(page)[1] == "B-ORG")
        forced = [[None] * len(sentence["tokens"]) for sentence in sentences]
        forced[0][1] = "B-ORG"
        given = predict(address, {"tokens": [s["tokens"] for s in sentences], "forced": forced})["sentences"]
        assert labels(page) == [label for sentence in given for label in sentence["labels"]]
        assert page.all(".token")[1].get_attribute("class").split().count("fixed") == 1
        page.find("#release").click()
        page.wait(lambda: not page.all(".token.fixed"))

        page.script("const s = document.getElementById('kbest'); s.value = '3'; s.dispatchEvent(new Event('change'))")
        page.wait(lambda: len(page.all("ol.best li")) == 6)
        assert all(asked.startswith(address) for asked in page.requests())
        assert page.complaints() == []


def test_what_is_written_is_text(page, folder):
    (folder / "evil.txt").write_text(f"{EVIL} {EVIL}\nb O\n\n{EVIL} {EVIL}\nc O\n")
    run(folder, "train", "tag", "evil.txt", "--quiet", "-o", "evil.esp")
    with server(folder, "evil.esp") as address:
        page.open(address)
        write(page, f"{EVIL} </script><script>window.broken = 1</script>")
        page.wait(lambda: page.all(".token"))
        assert page.script("return document.querySelectorAll('main img, main script').length") == 0
        assert page.script("return window.broken === undefined")
        page.all(".token")[0].click()
        page.wait(lambda: page.all("#reasons td code"))
        assert page.script("return document.querySelectorAll('main img').length") == 0
        assert page.complaints() == []


def test_trees_and_labels(page, folder):
    run(folder, "generate", "parse", "-n", 60, "--seed", 1, "-o", "train.conllu")
    run(folder, "train", "parse", "train.conllu", "--l2", 10, "--gap", 0.1, "--quiet", "-o", "parser.esp")
    with server(folder, "parser.esp", "--columns", "pos=pos.esp") as address:
        page.open(address)
        write(page, "She flew to Paris.")
        page.wait(lambda: page.all("svg.tree"))
        check_accessibility(page)
        page.complaints()
        result = predict(address, {"text": "She flew to Paris."})["results"][0]
        told = page.find("svg.tree").get_attribute("aria-label")
        words = result["words"]
        assert told == ", ".join(f"{word} {relation} of {words[head - 1] if head else 'root'}"
                                 for word, head, relation in zip(words, result["heads"], result["relations"]))

        # Why a word has its head, and the tree with another one.
        page.all(".token")[0].click()
        page.wait(lambda: page.all("#reasons td code"))
        tokens = [[word, *columns] for word, columns in zip(words, result["columns"])]
        why = predict(address, {"tokens": [tokens], "explain": {"word": 1}})["results"][0]["explanation"]
        assert page.all("#reasons td code")[0].text == why["contributions"][0]["attribute"]
        other = next(head for head in range(len(words), 0, -1) if head not in (1, result["heads"][0]))
        page.script("const s = document.getElementById('label'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", str(other))
        page.wait(lambda: page.all(".token.fixed"))
        given = predict(address, {"tokens": [tokens], "forced": [[other] + [None] * (len(words) - 1)]})["results"][0]
        assert given["heads"][0] == other
        told = page.find("svg.tree").get_attribute("aria-label")
        assert told.startswith(f"{words[0]} {given['relations'][0]} of {words[other - 1]}")
        assert page.complaints() == []
    run(folder, "generate", "text", "-n", 200, "--seed", 1, "-o", "topics.tsv")
    run(folder, "train", "classify", "topics.tsv", "--format", "text", "--quiet", "-o", "topics.esp")
    with server(folder, "topics.esp") as address:
        page.open(address)
        write(page, "rain and wind")
        page.wait(lambda: page.all("#output .lead"))
        example = predict(address, {"text": "rain and wind", "explain": {}})["examples"][0]
        assert page.find("#output .lead").text == example["label"]
        shown = [mark.text for mark in page.all("#reasons td code")]
        assert shown == [one["attribute"] for one in example["explanation"]["contributions"]]
        assert page.complaints() == []


def test_phrases_and_graphs(page, folder):
    run(folder, "generate", "treebank", "-n", 40, "--seed", 1, "-o", "train.mrg")
    run(folder, "train", "treebank", "train.mrg", "--hash-bits", 12, "--gap", 0.1, "--tags", "predicted", "--quiet", "-o", "phrases.esp")
    with server(folder, "phrases.esp") as address:
        page.open(address)
        write(page, "The dog slept.")
        page.wait(lambda: page.all("#phrase option:nth-child(3)"))
        result = predict(address, {"text": "The dog slept.", "marginals": True})["results"][0]
        option = page.all("#phrase option")[1].text
        assert any(option.startswith(f"{one['label']}: ") for one in result["constituents"])
        page.script("const s = document.getElementById('phrase'); s.value = s.options[1].value; s.dispatchEvent(new Event('change'))")
        page.wait(lambda: page.all("#reasons td code"))
        assert page.all("#reasons td code")[0].text.startswith("span: ")
        check_accessibility(page)
        assert page.overflow() <= 0 and page.complaints() == []
    graph = {"nodes": [{"features": [EVIL]}, {"features": ["b"]}], "cliques": [{"nodes": [0, 1]}], "labels": [EVIL, "y"]}
    (folder / "graphs.jsonl").write_text(2 * (json.dumps(graph) + "\n"))
    run(folder, "train", "graph", "graphs.jsonl", "--quiet", "-o", "graphs.esp")
    with server(folder, "graphs.esp") as address:
        page.open(address, dark=True)
        page.wait(lambda: page.find("#mode").get_property("value") == "input")
        write(page, json.dumps(graph))
        page.wait(lambda: labels(page) == [EVIL, "y"])
        page.all(".token")[1].click()
        page.wait(lambda: page.all("#reasons td code"))
        page.script("const s = document.getElementById('label'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", EVIL)
        page.wait(lambda: labels(page)[1] == EVIL)
        assert page.script("return document.querySelectorAll('main img').length") == 0
        check_accessibility(page)
        # Dark, as the system is, and light at a click.
        ground = "return getComputedStyle(document.body).backgroundColor"
        before = page.script(ground)
        page.find("#theme").click()
        assert contrast(before, page.script(ground)) > 10 and page.find("#theme").text == "Dark"
        assert page.overflow() <= 0 and page.complaints() == []


def test_says_what_is_wrong(page, folder):
    run(folder, "train", "tag", "train.txt", "--quiet", "--gap", 0.05, "-o", "both.esp")
    (folder / "token").write_text("a token of the tests\n")
    with server(folder, "both.esp", "--token-file", "token") as address:
        page.open(address)
        page.wait(lambda: page.find("#token-row").is_displayed())
        page.complaints()
        page.script("const t = document.getElementById('token'); t.value = 'a token of the tests'; t.dispatchEvent(new Event('change'))")
        page.wait(lambda: page.find("#title").text == "both.esp")
        write(page, "It rained.")
        page.wait(lambda: page.find("#problem").is_displayed())
        assert "column 2" in page.find("#problem").text
        page.complaints()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 1100])
def test_fits_and_can_be_read(page, folder, width, dark):
    with server(folder, "words.esp") as address:
        page.open(address, width, dark)
        write(page, "Mr. Tremley flew to Paris. " * 5)
        page.wait(lambda: page.all(".token"))
        assert page.overflow() <= 0
        ground = page.script("return getComputedStyle(document.body).backgroundColor")
        for selector in (".token span", ".token .label", ".token .probability", "#model"):
            assert contrast(page.script("return getComputedStyle(document.querySelector(arguments[0])).color", selector), ground) >= 4.5
        names = page.script("""return [...document.querySelectorAll('input, select, textarea')].filter((e) => e.offsetParent)
            .map((e) => e.labels.length)""")
        assert all(names)
