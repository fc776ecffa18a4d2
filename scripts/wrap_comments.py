#!/usr/bin/env python3
"""Wraps // comments of C++ sources at 110 columns, which clang-format leaves alone here.

    git ls-files -z '*.h' '*.cc' | xargs -0 scripts/wrap_comments.py

A line that is too long hands its last words to the next line of its paragraph, or to a new one; everything else
stays as it is. A paragraph ends at an empty comment, at another indentation, and at lines that begin a list or are
indented by more than one space (formulas, tables). Those are broken at a gap of several spaces if there is one, or
before an operator.
"""

import re
import sys

WIDTH = 110
COMMENT = re.compile(r'^( *)//( *)(.*)$')
ITEM = re.compile(r'^(?:[-*] |\d+[.)] |\([a-z0-9]\) |[a-z]\) )')
COLUMNS = re.compile(r'^(\S+(?: \S+)* {2,})\S')
GAP = re.compile(r' {2,}')
PROSE = re.compile(r'\b(?:the|of|for|where|each|and|has|have|are|is|in|to|from|or) ')
OPERATORS = (' <=> ', ' = ', ' <= ', ' >= ', ' + ', ' - ')


def split(line):
    """The code indentation, what follows the slashes, and the text of a whole-line comment, or None."""
    match = COMMENT.match(line)
    return match.groups() if match and match.group(3) else None


def hanging(space, text, carried):
    """The spaces after the slashes of the line that continues this one."""
    item = ITEM.match(text)
    if item and not carried:
        return space + ' ' * len(item.group(0))
    columns = COLUMNS.match(text)
    if columns and len(space) > 1:
        return space + ' ' * len(columns.group(1))
    return space


def depth(text):
    return sum(text.count(c) for c in '([{') - sum(text.count(c) for c in ')]}')


def cut_formula(text, limit):
    """Where to break an indented line: the end of what stays, or 0 where words will do."""
    gaps = [m.start() for m in GAP.finditer(text) if limit // 6 < m.start() <= limit]
    if gaps:
        return gaps[-1]
    if ITEM.match(text) or PROSE.search(text):
        return 0
    for operator in OPERATORS:
        at = text.rfind(operator, 0, limit)
        while at > limit // 3:
            if depth(text[:at]) == 0:
                return at
            at = text.rfind(operator, 0, at)
    return 0


def wrap(lines):
    result = []
    queue = list(lines)
    carried = False  # the line begins with words of the one before
    while queue:
        line = queue.pop(0)
        parts = split(line)
        if len(line) <= WIDTH or parts is None:
            result.append(line)
            carried = False
            continue
        indent, space, text = parts
        limit = WIDTH - len(indent) - 2 - len(space)
        formula = cut_formula(text, limit) if len(space) > 1 else 0
        cut = formula or text.rfind(' ', 0, limit + 1)
        if cut <= 0:
            result.append(line)  # one long word
            carried = False
            continue
        result.append(f'{indent}//{space}{text[:cut].rstrip()}')
        rest = text[cut:].strip()
        follows = hanging(space, text, carried)
        if len(follows) > 60 or (formula and follows == space):
            follows = space + '    '
        after = split(queue[0]) if queue else None
        joins = (not formula and after is not None and after[0] == indent and after[1] == follows and not ITEM.match(after[2])
                 and (len(follows) == 1 or (follows != space and not GAP.search(after[2]))))
        if joins:
            queue[0] = f'{indent}//{follows}{rest} {after[2]}'
        else:
            queue.insert(0, f'{indent}//{follows}{rest}')
        carried = True
    return result


def main():
    for name in sys.argv[1:]:
        with open(name, encoding='utf-8') as file:
            text = file.read()
        wrapped = '\n'.join(wrap(text.split('\n')))
        if wrapped != text:
            with open(name, 'w', encoding='utf-8') as file:
                file.write(wrapped)


if __name__ == '__main__':
    main()
