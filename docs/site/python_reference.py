"""Prints the reference of the Python package as Markdown, from the signatures and docstrings of the module that is importable."""

import importlib
import inspect
import pkgutil
import re
import textwrap

import espalier

HEADING = re.compile(r"^(-{3,}|={3,})$")
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def signature(name, function):
    """NAME(ARGUMENTS), over several lines where it is long; compiled functions say theirs in the docstring."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        first = (inspect.getdoc(function) or "").partition("\n")[0]
        return first if first.startswith(name + "(") else name + "(...)"
    kept = [p for p in found.parameters.values() if p.name != "self"]
    text = ADDRESS.sub("", f"{name}{found.replace(parameters=kept)}")
    if len(text) <= 100:
        return text
    arguments, kind = [], inspect.Parameter.POSITIONAL_OR_KEYWORD
    for parameter in kept:
        if parameter.kind == inspect.Parameter.KEYWORD_ONLY and kind != parameter.kind:
            arguments.append("*")
        kind = parameter.kind
        arguments.append(ADDRESS.sub("", str(parameter)))
    lines = textwrap.wrap(", ".join(a.replace(" ", "\0") for a in arguments) + ")", 96, break_on_hyphens=False)
    return f"{name}(\n    " + "\n    ".join(lines).replace("\0", " ")


def markdown(docstring):
    """A docstring as Markdown: sessions of the interpreter in blocks, underlined headings in bold type."""
    lines = inspect.cleandoc(docstring or "").splitlines()
    text, session = [], False
    for at, line in enumerate(lines):
        if session and not line.strip():
            text.append("```")
            session = False
        if not session and line.lstrip().startswith(">>> "):
            text += ["", "```pycon"]
            session = True
        if HEADING.match(line) and at > 0:
            continue
        if at + 1 < len(lines) and HEADING.match(lines[at + 1]):
            line = f"**{line}**\n"
        text.append(line.lstrip() if session else line)
    return "\n".join(text + ["```"] * session).strip() + "\n"


def without_signature(name, docstring):
    """What follows the first line of a compiled function's docstring, which is its signature."""
    first, _, rest = (docstring or "").partition("\n")
    return rest if first.startswith(name + "(") else docstring


def ours(owner, name):
    """Whether a member is defined by a class of the package, rather than by scikit-learn or by Python."""
    holder = next((c for c in owner.__mro__ if name in vars(c)), None)
    return holder is not None and holder.__module__.split(".")[0] == "espalier"


def describe_function(level, name, function):
    doc = without_signature(name, inspect.getdoc(function))
    return f"{level} {name}\n\n```python\n{signature(name, function)}\n```\n\n{markdown(doc)}\n"


def describe_class(level, name, owner):
    text = f"{level} {name}\n\n"
    if "__init__" in vars(owner) or ours(owner, "__init__") and not issubclass(owner, Exception):
        if inspect.isfunction(owner.__init__):
            text += f"```python\n{signature(name, owner.__init__)}\n```\n\n"
    text += markdown(owner.__doc__) + "\n"
    members = [(n, inspect.getattr_static(owner, n)) for n in dir(owner) if not n.startswith("_") and ours(owner, n)]
    values = [(n, m) for n, m in members if isinstance(m, property)]
    if values:
        rows = "".join(f"| `{n}` | {' '.join((inspect.getdoc(m) or '').split())} |\n" for n, m in values)
        text += f"| attribute | |\n|---|---|\n{rows}\n"
    for member, _ in members:
        if callable(getattr(owner, member)):
            text += describe_function(level + "#", f"{name}.{member}", getattr(owner, member)).replace(
                f"```python\n{name}.", "```python\n")
    return text


def describe_module(level, module):
    text = ""
    for name in sorted(getattr(module, "__all__", []), key=lambda n: (not inspect.isclass(getattr(module, n)), n.lower())):
        member = getattr(module, name)
        if inspect.isclass(member):
            text += describe_class(level, name, member)
        elif callable(member):
            text += describe_function(level, name, member)
    return text


def main():
    print(f"# Python reference\n\n{markdown(espalier.__doc__)}")
    print(describe_module("##", espalier))
    for _, name, _ in pkgutil.iter_modules(espalier.__path__):
        if not name.startswith("_"):
            module = importlib.import_module(f"espalier.{name}")
            print(f"## espalier.{name}\n\n{markdown(module.__doc__)}")
            print(describe_module("###", module))


if __name__ == "__main__":
    main()
