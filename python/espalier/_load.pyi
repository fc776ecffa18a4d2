import os
from typing import Any

def load(path: str | os.PathLike[str], memory: int | str | None = None) -> Any: ...
