"""What a regularisation path logs, by value of l2."""


def points(run, quality):
    """The last report of each l2, with the passes and seconds of that l2 alone; `quality` is what of --dev to take."""
    last = {event["l2"]: event for event in run.progress}
    before = {"pass": 0, "seconds": 0}
    for l2, event in last.items():
        yield {
            "l2": l2,
            "passes": event["pass"] - before["pass"],
            "total_passes": event["pass"],
            "seconds": event["seconds"] - before["seconds"],
            "primal": event["primal"],
            "dual": event["dual"],
            "relative_gap": event["relative_gap"],
            quality: event["dev"][quality],
        }
        before = event
