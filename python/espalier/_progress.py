"""What a run prints while it trains: a line that is rewritten in a terminal or a notebook, lines elsewhere."""

import sys


class Display:
    def __init__(self, verbose, data):
        self._stream = sys.stdout if verbose else None
        self._rewrites = verbose and _rewrites(sys.stdout)
        self._width = 0
        if verbose:
            self._print(data.describe(), last=True)

    def report(self, progress, dev):
        """One report of the run; ``dev`` has the rates on held-out data."""
        if self._stream is None:
            return
        line = f"pass {progress.passes:8.2f}  gap {progress.relative_gap:9.2e}  {progress.seconds:7.1f} s"
        if dev:
            line += "  dev " + ", ".join(f"{name} {100 * value:.2f} %" for name, value in dev.items()
                                         if isinstance(value, float))
        self._print(line, last=not self._rewrites)

    def end(self, run):
        if self._stream is not None:
            self._print(run.message, last=True)

    def _print(self, line, last):
        start = "\r" if self._rewrites else ""
        self._stream.write(start + line.ljust(self._width) + ("\n" if last else ""))
        self._stream.flush()
        self._width = 0 if last else len(line)


def _rewrites(stream):
    """Terminals and notebooks take a carriage return for what it says."""
    if "ipykernel" in sys.modules and type(stream).__module__.startswith("ipykernel"):
        return True
    return bool(getattr(stream, "isatty", lambda: False)())
