"""Fields of bibliographic references: AnyStyle's data with the template of examples/references, core to gold.

    python3 -m bench.races.references.race
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from bench import lib

EXAMPLE = lib.ROOT / "examples" / "references"
COUNTS = {"core": (1514, 34778, 23), "gold": (1669, 36200, 19)}  # references, tokens, fields
FOLDS = ("--folds", 3, "--l2-max", 1, "--l2-min", 0.12, "--factor", 0.5)  # l2 1, 0.5, 0.25, 0.125
# In the converter's labels every field has one, I-FIELD; in BIO it has two.
TEMPLATE = ("--template", EXAMPLE / "template.txt")
MODELS = (
    ("built-in attributes", ()),
    ("template", TEMPLATE),
    ("template, order 2", (*TEMPLATE, "--order", 2)),
    ("template, BIO", (*TEMPLATE, "--encoding", "bio")),
    ("template, BIO, --valid bio", (*TEMPLATE, "--encoding", "bio", "--valid", "bio")),
)


def convert(name, source, target):
    """Columns; checks that nothing was lost."""
    with open(target, "w") as file:
        subprocess.run([sys.executable, EXAMPLE / "xml_to_columns.py", source], stdout=file, check=True)
    references = read(target)
    found = (len(references), sum(map(len, references)), len({row[-1][2:] for rows in references for row in rows}))
    assert found == COUNTS[name], f"{source}: {found}; expected {COUNTS[name]}"
    return references


def read(path):
    """The fields of the lines of each reference."""
    with open(path) as file:
        return [[line.split("\t") for line in block.split("\n")] for block in file.read().strip("\n").split("\n\n")]


def tokens_right(pairs):
    """Share of tokens of the right field, in rows of (..., gold, predicted)."""
    rows = [row for reference in pairs for row in reference]
    return sum(row[-2][2:] == row[-1][2:] for row in rows) / len(rows)


def token_f1(pairs):
    """For each field, of its tokens."""
    gold, predicted, right = Counter(), Counter(), Counter()
    for row in (row for reference in pairs for row in reference):
        gold[row[-2][2:]] += 1
        predicted[row[-1][2:]] += 1
        right[row[-2][2:]] += row[-2][2:] == row[-1][2:]
    return {field: 2 * right[field] / (gold[field] + predicted[field]) for field in gold}


def words(reference):
    return tuple(row[0] for row in reference)


def evaluate(model, data, folder):
    """Token accuracy and F1 by field, from predictions; whole fields and whole references as `eval` counts them."""
    tagged = Path(folder) / "tagged.txt"
    with open(tagged, "w") as file:
        subprocess.run([lib.PROGRAM, "predict", model, data, "--encoding", "iob1"], stdout=file, check=True)
    said = subprocess.run([lib.PROGRAM, "eval", model, data, "--json"], stdout=subprocess.PIPE, check=True)
    pairs, evaluation = read(tagged), json.loads(said.stdout)
    return {"references": len(pairs), "accuracy": tokens_right(pairs), "token_f1": token_f1(pairs),
            "f1": evaluation["f1"], "whole": evaluation["sequence_accuracy"], "fields": evaluation["types"]}


def measure(name, options, train, gold, new, folder):
    """l2 by three-fold cross-validation on the training data, then one run on all of it, which is the one timed."""
    lib.note(name)
    model, log = Path(folder) / "model.esp", Path(folder) / "folds.jsonl"
    subprocess.run([lib.PROGRAM, "cross-validate", "tag", train, *map(str, (*FOLDS, *options)), "--quiet",
                    "--log", log], check=True, stdout=subprocess.DEVNULL)
    folds = json.loads(log.read_text().splitlines()[-1])
    run = lib.espalier("train", "tag", train, "--l2", folds["l2"], *options, model=model)
    return {
        "name": name,
        "l2": folds["l2"],
        "folds_f1": max(value["mean"] for value in folds["values"]) / 100,
        "folds_seconds": folds["wall_seconds"],
        "attributes": run.number_of("attributes"),
        "labels": run.number_of("labels"),
        "passes": run.last["pass"],
        "seconds": run.last["seconds"],
        "wall_seconds": run.wall_seconds,
        "gold": evaluate(model, gold, folder),
        "new": evaluate(model, new, folder),
    }


def percent(rate):
    return f"{100 * rate:.2f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--anystyle", type=Path, default=lib.DATA / "anystyle",
                        help="folder with core.xml.gz and gold.xml.gz")
    arguments = parser.parse_args()

    lib.use_one_core()
    with tempfile.TemporaryDirectory() as folder:
        core, gold, new = (Path(folder) / f"{name}.txt" for name in ("core", "gold", "new"))
        known = {words(reference) for reference in convert("core", arguments.anystyle / "core.xml.gz", core)}
        with open(new, "w") as file:
            for reference in convert("gold", arguments.anystyle / "gold.xml.gz", gold):
                if words(reference) not in known:
                    file.write("".join("\t".join(row) + "\n" for row in reference) + "\n")
        rows = [measure(name, options, core, gold, new, folder) for name, options in MODELS]
    lib.keep("references", rows)

    all_of, new_of = rows[0]["gold"]["references"], rows[0]["new"]["references"]
    print(f"AnyStyle, trained on core ({COUNTS['core'][0]:,} references), tested on gold ({all_of:,}) and on the "
          f"{new_of:,} of gold that are not in core as well. Tokens: share in the right field; fields: "
          "F1 of whole fields; references: share without an error. l2 by three-fold cross-validation on core, "
          "relative gap 0.001, one core.\n")
    print(lib.table(["", "labels", "l2", "F1 in folds", "tokens, gold", "fields", "references", "tokens, new", "fields",
                     "references", "passes", "seconds", "wall", "folds, s"],
                    [[row["name"], row["labels"], f"{row['l2']:g}", percent(row["folds_f1"]),
                      *(percent(row[data][what]) for data in ("gold", "new") for what in ("accuracy", "f1", "whole")),
                      f"{row['passes']:.0f}", f"{row['seconds']:.1f}", f"{row['wall_seconds']:.1f}",
                      f"{row['folds_seconds']:.0f}"] for row in rows]))
    best = max(rows, key=lambda row: row["folds_f1"])
    print(f"\nBy field, F1 of \"{best['name']}\", the best in folds:\n")
    print(lib.table(["field", "in gold", "tokens, gold", "fields", "in new", "tokens, new", "fields"],
                    [[field, of["gold"], percent(best["gold"]["token_f1"][field]), percent(of["f1"]),
                      *((best["new"]["fields"][field]["gold"], percent(best["new"]["token_f1"][field]),
                         percent(best["new"]["fields"][field]["f1"])) if field in best["new"]["token_f1"] else "---")]
                     for field, of in best["gold"]["fields"].items() if of["gold"]]))
    print(f"\n{lib.provenance()}")


if __name__ == "__main__":
    main()
