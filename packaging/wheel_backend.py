"""Makes a wheel of the Python package that CMake builds and installs.

The hooks of PEP 517 for `python3 -m build` and `pip install`, and `wheel_backend.py BUILD FOLDER` for a build that is there.
No other package of Python is needed. pyproject.toml has the metadata.
"""

import base64
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import tomllib
import zipfile

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def _version():
    return re.search(r'ESPALIER_VERSION "(.*)"', _read("include", "espalier", "version.h")).group(1)


def _tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{re.sub('[-.]', '_', sysconfig.get_platform())}"


def _metadata():
    project = tomllib.loads(_read("pyproject.toml"))["project"]
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {_version()}",
        f"Summary: {project['description']}",
        "License: MIT",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {name}" for name in project["dependencies"]),
        *_extras(project["optional-dependencies"]),
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + _read(project["readme"])


def _extras(optional):
    for extra, names in optional.items():
        yield f"Provides-Extra: {extra}"
        yield from (f'Requires-Dist: {name}; extra == "{extra}"' for name in names)


def _info_folder():
    return f"espalier-{_version()}.dist-info"


class _Wheel:
    """A zip file with a record of what is in it. The same contents give the same bytes."""

    def __init__(self, path):
        self._zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._record = []

    def add(self, name, content, mode=0o644):
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100000 | mode) << 16
        self._zip.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(content)}")

    def close(self):
        record = f"{_info_folder()}/RECORD"
        self._zip.writestr(zipfile.ZipInfo(record), "\n".join([*self._record, f"{record},,"]) + "\n")
        self._zip.close()


def _run(*command):
    subprocess.run(command, check=True, stdout=sys.stderr)


def wheel_of_build(build, folder):
    """Makes a wheel of what `build` installs for Python, and returns its name."""
    name = f"espalier-{_version()}-{_tag()}.whl"
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as prefix:
        _run("cmake", "--install", build, "--prefix", prefix, "--component", "python", "--strip")
        package = next(path for path, _, files in os.walk(prefix) if "__init__.py" in files)
        wheel = _Wheel(os.path.join(folder, name))
        for path, folders, files in os.walk(package):
            folders.sort()
            for file in sorted(files):
                full = os.path.join(path, file)
                with open(full, "rb") as opened:
                    content = opened.read()
                wheel.add(os.path.relpath(full, os.path.dirname(package)), content, 0o755 if file.endswith(".so") else 0o644)
    wheel.add(f"{_info_folder()}/METADATA", _metadata().encode())
    wheel.add(f"{_info_folder()}/LICENSE", _read("LICENSE").encode())
    about = f"Wheel-Version: 1.0\nGenerator: espalier {_version()}\nRoot-Is-Purelib: false\nTag: {_tag()}\n"
    wheel.add(f"{_info_folder()}/WHEEL", about.encode())
    wheel.close()
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517: configures and builds in build/, as ./quickstart does, then makes the wheel."""
    build = os.path.join(SOURCE, "build")
    _run("cmake", "--preset", "release", "-S", SOURCE, "-DESPALIER_PYTHON=ON", f"-DPython_EXECUTABLE:FILEPATH={_interpreter()}")
    _run("cmake", "--build", build, "--target", "espalier_package")
    return wheel_of_build(build, wheel_directory)


def _interpreter():
    """That of the environment's base: the environment of a build may be gone before the next one."""
    return os.path.realpath(sys.executable)


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517: what git has."""
    stem = f"espalier-{_version()}"
    name = f"{stem}.tar.gz"
    path = os.path.abspath(os.path.join(sdist_directory, name))
    metadata = f"--add-virtual-file={stem}/PKG-INFO:{_metadata()}"
    _run("git", "-C", SOURCE, "archive", "--format=tar.gz", f"--prefix={stem}/", metadata, f"--output={path}", "HEAD")
    return name


if __name__ == "__main__":
    print(os.path.join(sys.argv[2], wheel_of_build(sys.argv[1], sys.argv[2])))
