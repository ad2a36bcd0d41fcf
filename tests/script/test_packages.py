"""What is installed is what was locked: Python packages by their hashes, Debian's by name."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pip
import pytest

REPOSITORY = Path(__file__).parents[2]
REQUIREMENTS = (REPOSITORY / "requirements.txt").read_text()
PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())


def canonical(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[ ;=<>\[]", requirement)[0]).lower()


def locked() -> dict[str, str]:
    """Each requirement of the file with its options, by name."""
    entries = re.split(r"\n(?=[A-Za-z])", re.sub(r"(?m)^ *#.*\n", "", REQUIREMENTS).strip())
    return {canonical(entry): entry for entry in entries}


def test_every_package_is_pinned_with_hashes_and_from_no_named_place() -> None:
    for entry in locked().values():
        assert re.match(r"[\w.-]+==[\w.]+ ", entry) and "--hash=sha256:" in entry, entry
    assert "://" not in REQUIREMENTS and "--index" not in REQUIREMENTS


def test_all_that_the_project_asks_for_is_locked_and_its_build_too() -> None:
    """Except for what script/bootstrap does not install: each of these is in one version."""
    project = PROJECT["project"]
    extras = dict(project["optional-dependencies"])
    assert all("==" in each for name in ("envoy", "http3") for each in extras.pop(name))
    wanted = [
        *project["dependencies"],
        *(each for extra in extras.values() for each in extra),
        *PROJECT["build-system"]["requires"],
    ]
    own = {canonical(project["name"])}  # an extra may contain another one
    assert {canonical(each) for each in wanted} - own <= locked().keys()


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def wheel(folder: Path, content: str) -> Path:
    """A package of one file, in the form that pip installs."""
    path, about = folder / "locked-1.0-py3-none-any.whl", "locked-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("locked.py", content)
        archive.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: locked\nVersion: 1.0\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{about}/RECORD", "")
    return path


def source(folder: Path, ran: Path) -> Path:
    """The same as source, which leaves a file `ran` when its build runs."""
    path, script = folder / "locked-1.0.tar.gz", folder / "setup.py"
    script.write_text(
        f"open({str(ran)!r}, 'w')\nfrom setuptools import setup\nsetup(name='locked')"
    )
    with tarfile.open(path, "w:gz") as archive:
        archive.add(script, "locked-1.0/setup.py")
    return path


@pytest.mark.parametrize(
    ("installer", "mismatch"),
    [
        ("uv", "Hash mismatch"),
        pytest.param("pip", "THESE PACKAGES DO NOT MATCH THE HASHES", marks=pytest.mark.long),
    ],
)
def test_bootstrap_installs_what_was_locked_and_runs_no_build(
    tmp_path: Path, installer: str, mismatch: str
) -> None:
    """By uv, and where there is none by pip."""
    suite, packages, ran = tmp_path / "suite", tmp_path / "packages", tmp_path / "ran"
    for folder in (suite / "script", suite / "build", packages):
        folder.mkdir(parents=True)
    shutil.copy(REPOSITORY / "script/bootstrap", suite / "script")
    found = {"PYTHON": sys.executable}
    for each in ("PIP", "UV"):
        found |= {f"{each}_NO_INDEX": "1", f"{each}_FIND_LINKS": str(packages)}
    if installer == "uv":
        make = [sys.executable, "-m", "venv", "--without-pip", suite / ".venv"]
        subprocess.run(make, check=True)
        (suite / ".venv/bin/uv").symlink_to(Path(sys.executable).with_name("uv"))
        (own,) = suite.glob(".venv/lib/python3*/site-packages")
        (own / "pip").symlink_to(Path(pip.__file__).parent)  # to make it takes seconds

    def install(options: str) -> subprocess.CompletedProcess[str]:
        (suite / "requirements.txt").write_text(f"locked==1.0 {options}\n")
        script = f". {suite}/script/bootstrap; install_python"
        return subprocess.run(
            ["bash", "-c", script], env=os.environ | found, capture_output=True, text=True
        )

    of_source = sha256(source(packages, ran))
    assert install(f"--hash=sha256:{of_source}").returncode
    assert not ran.exists(), "a build is anybody's code, and would fetch what nobody locked"
    built = wheel(packages, "value = 1\n")
    assert install("").returncode
    both = f"--hash=sha256:{sha256(built)} --hash=sha256:{of_source}"
    locked_content = built.read_bytes()
    wheel(packages, "value = 2\n")
    changed = install(both)
    log = suite / "build" / "uv.log"
    assert changed.returncode and mismatch in changed.stderr + log.read_text()
    built.write_bytes(locked_content)
    assert install(both).returncode == 0
    value = [str(suite / ".venv/bin/python"), "-c", "import locked; print(locked.value)"]
    assert subprocess.run(value, capture_output=True, text=True).stdout == "1\n"
    about = suite.glob(".venv/lib/python3*/site-packages/locked-1.0.dist-info/INSTALLER")
    assert [path.read_text().strip() for path in about] == [installer]
