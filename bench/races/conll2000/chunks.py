"""F1 over chunks, as conlleval counts them for B, I and O tags: a peer's output is scored like ours."""


def chunks(tags):
    """The set of (start, end, type) of one sequence."""
    found, start, before = set(), None, "O"
    for position, tag in enumerate([*tags, "O"]):
        goes_on = tag.startswith("I-") and before[2:] == tag[2:]
        if start is not None and not goes_on:
            found.add((start, position, before[2:]))
            start = None
        if tag != "O" and start is None:
            start = position
        before = tag
    return found


def f1(sequences):
    """Of pairs of gold and predicted tags."""
    gold_chunks = predicted_chunks = correct = 0
    for gold, predicted in sequences:
        gold, predicted = chunks(gold), chunks(predicted)
        gold_chunks += len(gold)
        predicted_chunks += len(predicted)
        correct += len(gold & predicted)
    return 2 * correct / max(1, gold_chunks + predicted_chunks)


def sequences(lines):
    """The first fields of lines, a list for each of the runs between blank lines."""
    tags = []
    for line in lines:
        if line.strip():
            tags.append(line.split()[0])
        elif tags:
            yield tags
            tags = []
    if tags:
        yield tags
