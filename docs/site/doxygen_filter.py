#!/usr/bin/env python3
"""Prints a header for Doxygen: plain comments become comments that it reads.

A comment above a declaration describes it, one behind a declaration describes that, with the lines below it that hold nothing
else. What Doxygen would take for a command, a link or a tag is escaped, except in code.
"""

import re
import sys

CODE = re.compile(r"(`[^`]*`)")
SPECIAL = re.compile(r"([\\@#<>&$%])")


def escaped(text):
    if text.startswith("    "):  # a formula or an example
        return text
    parts = CODE.split(text)
    return "".join(part if part.startswith("`") else SPECIAL.sub(r"\\\1", part) for part in parts)


def filtered(lines):
    behind = -1  # the column of a comment behind code
    for line in lines:
        at = line.find("//")
        code = line if at < 0 else line[:at]
        if at < 0 or code.count('"') % 2 == 1:
            behind = -1
            yield line
            continue
        text = escaped(line[at + 2:])
        if code.strip():
            behind = at
            yield f"{code}///<{text}"
        elif behind == at:
            yield f"{code}///<{text}"
        else:
            behind = -1
            yield f"{code}///{text}"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        print("\n".join(filtered(header.read().splitlines())))
