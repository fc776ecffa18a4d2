"""Every table and figure of bench/, on a quiet machine, on one page: bench/RESULTS.md.

    python3 -m bench.all --quiet                     all of it, some hours
    python3 -m bench.all --quiet --minutes 60        what fits into an hour; the same command goes on from there
    python3 -m bench.all --list                      the parts, and which of them are done

A part that was done at this commit is not done again: what counts is the last commit that changed the program or the
part's own script. With --quiet a part begins when others use at most 0.3 of a core, and begins anew where they used more
meanwhile.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bench import lib, quiet

PAGE = lib.ROOT / "bench" / "RESULTS.md"
PICTURES = lib.ROOT / "bench" / "pictures"
KEPT = lib.RESULTS / "all"


@dataclass
class Part:
    name: str
    title: str
    module: str
    options: tuple = ()
    minutes: float = 5  # about, on one core of 2025

    def command(self):
        return ["python3", "-m", f"bench.{self.module}", *map(str, self.options)]

    def python(self):
        # What needs Debian's Python packages, and the module built for them.
        return "/usr/bin/python3" if self.module.startswith("races.python") else sys.executable

    def script(self):
        path = lib.ROOT / "bench" / Path(*self.module.split("."))
        return path if path.is_dir() else path.with_suffix(".py")

    def commit(self):
        """The last commit that changed the program or this part's folder; with -dirty where either differs from it."""
        return lib.last_change(str(self.script().parent))


# In this order: what is quick first, so that an hour shows as much as it can.
PARTS = (
    Part("classify-growth", "Growth with the data, classification", "scaling.classify", minutes=0.3),
    Part("mnist-table2", "Collins et al. 2008, Table 2", "papers.mnist.table2", minutes=0.3),
    Part("ocr-gap", "Zhang et al. 2011: EG against excessive gap", "papers.ocr.figure", minutes=0.6),
    Part("ner-figure4", "Bartlett et al. 2004, Figure 4", "papers.ner.figure4", minutes=0.5),
    Part("micro", "Kernels and inference", "micro.run", minutes=2),
    Part("tag-growth", "Growth with the data, tagging", "scaling.tag", ("--most", 10000000), minutes=2.5),
    Part("labels", "Hundreds of labels", "scaling.labels", minutes=2),
    Part("mnist-race", "Logistic regression against scikit-learn", "races.mnist.race", minutes=3),
    Part("svm-race", "Multi-class SVM against LIBLINEAR", "races.svm.race", minutes=3),
    Part("conll2000-race", "A CRF against CRFsuite and Wapiti", "races.conll2000.race", minutes=8),
    Part("sparse-race", "A sparse CRF against CRFsuite", "races.conll2000.race",
         ("--observed", "--l1", 0.1, "--l2", 0.2), minutes=6),
    Part("python-race", "From Python, against CRFsuite", "races.python.race", minutes=4),
    Part("python-selection", "From Python, choosing l2", "races.python.selection", minutes=2),
    Part("mnist-figures", "Collins et al. 2008, Figures 4 to 11 and 14", "papers.mnist.figures", minutes=3),
    Part("ner-figure3", "Martins et al. 2010, Figure 3", "papers.ner.figure3", minutes=4),
    Part("spanish-table3", "Collins et al. 2008, Table 3", "papers.spanish.table3", minutes=3),
    Part("uai", "Exact, loopy and tree-reweighted inference", "papers.uai.table", minutes=3),
    Part("reports", "Reports of real data", "reports.make", minutes=2),
    Part("snakes", "Snakes", "papers.snakes.table", minutes=6),
    Part("align", "Word alignment", "papers.align.table", minutes=3),
    Part("losses-noise", "Martins et al. 2010, footnote 1: wrong labels", "papers.losses.noise", minutes=6),
    Part("references", "Fields of references", "races.references.race", minutes=6),
    Part("ocr-table", "Taskar et al. 2003: handwritten words", "papers.ocr.table", minutes=6),
    Part("ner-table1", "Martins et al. 2010, Table 1, named entities", "papers.ner.table1", minutes=10),
    Part("english", "English dependency parsing", "races.parsing.race", minutes=15),
    Part("ptb", "Phrase structure", "papers.ptb.table", minutes=15),
    Part("solvers", "All solvers", "races.solvers.race", ("--budget", 20, "--report-every", 4), minutes=35),
    Part("spanish-figure13", "Collins et al. 2008, Figure 13", "papers.spanish.figure13", minutes=25),
    Part("danish-figure4", "Martins et al. 2010, Figure 4, both orders", "papers.danish.figure4",
         ("--orders", 1, 2, "--passes", 10), minutes=60),
    Part("spanish-figures", "Collins et al. 2008, Figures 12 and 15", "papers.spanish.figures", minutes=60),
    Part("default", "The default on a grid of problems", "races.default", minutes=60),
    Part("danish-table1", "Martins et al. 2010, Table 1, parsing, both orders", "papers.danish.table1",
         ("--orders", 1, 2), minutes=120),
)


def record_of(part):
    """What is kept of a part at this commit; None where it is to be done."""
    file = KEPT / f"{part.name}.json"
    if not file.exists():
        return None
    record = json.loads(file.read_text())
    same = record["commit"] == part.commit() and record["command"] == part.command()
    return record if same and not record["commit"].endswith("-dirty") else None


def do(part, must_be_quiet, tries):
    """Runs a part and keeps what it printed and drew; says whether it could."""
    for _ in range(tries):
        if must_be_quiet and not quiet.wait(lib.note, patience=1800):
            lib.note(f"{part.name}: others were never quiet for half an hour")
            return False
        lib.note(f"{part.name}: {' '.join(part.command())}")
        began = time.time()
        command = [part.python(), *part.command()[1:]]
        if must_be_quiet:
            done = quiet.run(command, lib.ROOT)
            if done.status is None:
                lib.note(f"{part.name}: others used {done.others:.2f} cores; once more")
                continue
        else:
            said = subprocess.run(command, cwd=lib.ROOT, stdout=subprocess.PIPE, text=True, check=False)
            done = quiet.Done(said.returncode, said.stdout, time.time() - began, float("nan"))
        if done.status != 0:
            lib.note(f"{part.name}: exit status {done.status}")
            return False
        PICTURES.mkdir(exist_ok=True)
        pictures = [path.name for path in sorted(lib.RESULTS.glob("*.svg")) if path.stat().st_mtime >= began]
        for picture in pictures:
            shutil.copyfile(lib.RESULTS / picture, PICTURES / picture)
        KEPT.mkdir(parents=True, exist_ok=True)
        (KEPT / f"{part.name}.json").write_text(json.dumps({
            "commit": part.commit(), "command": part.command(), "output": done.output, "seconds": done.seconds,
            "others": done.others, "pictures": pictures}, indent=1) + "\n")
        return True
    return False


def peers():
    """The peers that the races find here."""
    found = []
    for name, variable in (("CRFsuite", "CRFSUITE"), ("Wapiti", "WAPITI")):
        program = os.environ.get(variable) or shutil.which(name.lower())
        found.append(f"{name}: {'found' if program and Path(program).exists() else 'not found'}")
    for name, module in (("scikit-learn", "sklearn"), ("LIBLINEAR", "liblinear")):
        version = lib.said_by("/usr/bin/python3", "-c", f"import {module}; print(getattr({module}, '__version__', 'found'))")
        found.append(f"{name}: {version or 'not found'}")
    return ", ".join(found)


def write_page():
    """bench/RESULTS.md, of all parts that are done."""
    where = lib.environment()
    records = [(part, record) for part in PARTS if (record := record_of(part))]
    lines = ["# Results", "",
             "Every table and figure of `bench/`, as `python3 -m bench.all --quiet` printed them; [bench/README.md](README.md) says how to "
             "read them. Written by that command: nothing here is edited by hand.", "",
             f"{where['cpu']}, {where['compiler']}, {where['build_type']} ({where['flags']}), {where['system']}. {peers()}.", "",
             lib.table(["part", "command", "commit", "minutes", "most cores used by others"],
                       [[f"[{part.title}](#{part.name})", f"`{' '.join(part.command())}`", record["commit"],
                         f"{record['seconds'] / 60:.1f}",
                         "not watched" if record["others"] != record["others"] else f"{record['others']:.2f}"]
                        for part, record in records]), ""]
    missing = [part.title for part in PARTS if not record_of(part)]
    if missing:
        lines += [f"Not done at this commit: {'; '.join(missing)}.", ""]
    for part, record in records:
        lines += [f'<a id="{part.name}"></a>', "", f"## {part.title}", "", record["output"].strip(), ""]
        lines += [f"![{Path(picture).stem}](pictures/{picture})" for picture in record["pictures"]]
        lines += [""] if record["pictures"] else []
    PAGE.write_text("\n".join(lines).rstrip() + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quiet", action="store_true", help="only while others use at most 0.3 of a core")
    parser.add_argument("--minutes", type=float, help="begin nothing that would take longer than is left of them")
    parser.add_argument("--parts", nargs="+", choices=[part.name for part in PARTS], metavar="PART",
                        help="only these (--list shows their names)")
    parser.add_argument("--tries", type=int, default=3, help="of a part that others disturb (default: 3)")
    parser.add_argument("--list", action="store_true", help="show the parts, and which are done, and end")
    arguments = parser.parse_args()

    if arguments.list:
        for part in PARTS:
            print(f"{'done' if record_of(part) else '    '}  {part.minutes:5.1f} min  {part.name:18} {' '.join(part.command())}")
        return
    if not lib.PROGRAM.exists():
        sys.exit(f"{lib.PROGRAM} is missing: cmake --preset release && cmake --build --preset release")
    ends = time.monotonic() + 60 * (arguments.minutes or float("inf"))
    failed = []
    for part in PARTS:
        if (arguments.parts and part.name not in arguments.parts) or record_of(part):
            continue
        if part.commit().endswith("-dirty"):
            lib.note(f"{part.name}: there are changes that are not committed; its results will not be kept for later")
        if time.monotonic() + 60 * part.minutes > ends:
            continue
        if not do(part, arguments.quiet, arguments.tries):
            failed.append(part.name)
        write_page()
    write_page()
    if failed:
        sys.exit(f"not done: {', '.join(failed)}")


if __name__ == "__main__":
    main()
