"""What is shipped."""

import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

from tests.support.paths import REPOSITORY, SOURCES


def test_the_wheel_holds_the_package_and_its_data(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "-t",
        "wheel",
        "-d",
        tmp_path,
    ]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    shipped = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    wanted = {
        path.relative_to(SOURCES.parent).as_posix()
        for path in SOURCES.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert shipped == wanted
    assert "tessera/py.typed" in shipped


def test_locks_pin_all_and_name_no_index() -> None:
    for lock in sorted((REPOSITORY / "requirements").glob("*.lock")):
        lines = lock.read_text(encoding="utf-8").splitlines()
        pins = [line for line in lines if line and line[0] not in "# "]
        assert pins
        assert all("==" in pin for pin in pins), lock.name
        assert not [line for line in lines if "://" in line or line.startswith("--")]


def test_optional_packages_stay_optional() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    required = " ".join(project["dependencies"])
    assert not [name for name in ("torch", "onnx", "mlx") if name in required]
