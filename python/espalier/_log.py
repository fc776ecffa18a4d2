"""The log of a run, in the form that users of python-crfsuite know."""


class TrainingLog:
    """What ``training_log_`` and ``Trainer.logparser`` are: the reports of a run.

    iterations
        A dict for each report: ``num``, ``loss`` (the objective), ``time`` (seconds since the one before), ``dual``,
        ``relative_gap``, ``passes``; with held-out data also ``item_accuracy_float`` and, where labels spell chunks,
        ``avg_precision``, ``avg_recall`` and ``avg_f1``, of chunks.
    last_iteration
        The last of them.
    log
        What it prints, line by line.
    """

    def __init__(self, description=""):
        self.iterations = []
        self.last_iteration = None
        self.log = [description + "\n"] if description else []
        self.training_seconds = 0.0
        self._clock = 0.0  # of the last report

    def report(self, progress, dev):
        """Takes one report of a run; ``dev`` has the rates on held-out data, or is None."""
        iteration = {
            "num": len(self.iterations) + 1,
            "loss": progress.primal,
            "time": progress.wall_seconds - self._clock,
            "dual": progress.dual,
            "relative_gap": progress.relative_gap,
            "passes": progress.passes,
            "scores": {},
        }
        if dev:
            names = {
                "accuracy": "item_accuracy_float",
                "precision": "avg_precision",
                "recall": "avg_recall",
                "f1": "avg_f1",
            }
            iteration.update({names[name]: value for name, value in dev.items() if name in names})
        self.iterations.append(iteration)
        self.last_iteration = iteration
        self.training_seconds = progress.seconds
        self._clock = progress.wall_seconds
        self.log.append(
            f"pass {progress.passes:.2f}  gap {progress.relative_gap:.2e}  loss {progress.primal:.6g}\n"
        )

    def end(self, message):
        """Takes the sentence that a run ends with."""
        self.log.append(message + "\n")
