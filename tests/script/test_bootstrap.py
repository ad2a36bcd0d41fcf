"""script/bootstrap: Debian's packages in a scratch root, by its own tools and a stand-in for apt;
the virtual environment in scratch folders."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
POLICY = "usr/sbin/policy-rc.d"
ADMINISTRATORS = "#!/bin/sh\nexit 101\n"
# What the packages bring, and what their maintainer scripts run; apt needs nobody's leave to kill.
APT = """#!/bin/bash
set -e
case " $* " in *" update "*) exit 0 ;; esac
brings=()
for each in "$@"; do
  case $each in nginx-common | haproxy | tayga) brings+=("$each") ;; esac
done
case " $* " in
  *" -s "*)
    echo "Reading package lists..."
    echo "Inst clang [14.0.5] (14.0.6 Debian:12 [amd64])"
    for package in "${brings[@]}"; do echo "Inst $package (1.0 Debian:12 [all]) []"; done
    exit 0 ;;
esac
sh "$DPKG_ROOT/usr/sbin/policy-rc.d" nginx start || echo "policy $?" >>"$DPKG_ROOT/told"
[ "${KILLED:-}" = before ] && kill -9 $PPID && exit 1
for package in "${brings[@]}"; do "$DPKG_ROOT/unpack" "$package"; done
[ "${KILLED:-}" = after ] && kill -9 $PPID
exit 0
"""
UNPACK = """#!/bin/bash
set -e
package=$1 name=${1%-common}
dpkg=$DPKG_ROOT/var/lib/dpkg
printf '%s\\n' "Package: $package" 'Status: install ok installed' 'Version: 1.0' \\
  'Architecture: all' 'Maintainer: nobody' 'Description: none' '' >>"$dpkg/status"
printf '/etc/init.d/%s\\n' "$name" >"$dpkg/info/$package.list"
printf '%s\\n' '#!/bin/sh' '### BEGIN INIT INFO' "# Provides: $name" '# Default-Start: 2 3 4 5' \\
  '# Default-Stop: 0 1 6' '### END INIT INFO' >"$DPKG_ROOT/etc/init.d/$name"
chmod +x "$DPKG_ROOT/etc/init.d/$name"
if [ "$name" != tayga ]; then
  unit=/lib/systemd/system/$name.service
  printf '%s\\n' "$unit" >>"$dpkg/info/$package.list"
  printf '[Service]\\nExecStart=/bin/true\\n[Install]\\nWantedBy=multi-user.target\\n' \\
    >"$DPKG_ROOT$unit"
  DPKG_MAINTSCRIPT_PACKAGE=$package deb-systemd-helper enable "$name.service"
fi
update-rc.d "$name" defaults >/dev/null
"""


class Machine:
    """A root folder with nothing installed, and a copy of the script that works on it."""

    def __init__(self, home: Path):
        self.root, self.home = home / "root", home
        for folder in ("etc/init.d", "lib/systemd/system", "usr/sbin", "var/lib/dpkg/info"):
            (self.root / folder).mkdir(parents=True)
        for level in "0123456S":
            (self.root / f"etc/rc{level}.d").mkdir()
        (self.root / "var/lib/dpkg/status").touch()
        self._program(self.root / "unpack", UNPACK)
        (home / "bin").mkdir()
        self._program(home / "bin/apt-get", APT)
        (home / "suite/script").mkdir(parents=True)
        (home / "suite/build").mkdir()
        shutil.copy(REPOSITORY / "script/bootstrap", home / "suite/script")
        (home / "suite/debian-packages.txt").write_text("nginx-common\nhaproxy\ntayga\n")
        self.environment = os.environ | {
            "DPKG_ROOT": str(self.root),
            "PATH": f"{home}/bin:{os.environ['PATH']}:/usr/sbin:/sbin",
        }

    def _program(self, path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)

    def there_before(self, package: str) -> None:
        """The administrator has installed it."""
        subprocess.run([self.root / "unpack", package], env=self.environment, check=True)

    def install(self, killed: str = "") -> int:
        """Run the script's part that installs; its exit status."""
        script = f". {self.home}/suite/script/bootstrap; install_packages"
        environment = self.environment | {"KILLED": killed}
        return subprocess.run(["bash", "-c", script], env=environment).returncode

    def starts_at_boot(self) -> set[str]:
        """By systemd or by an init script, of runlevels 2 to 5."""
        units = (self.root / "etc/systemd/system").glob("*.wants/*.service")
        links = (self.root / "etc").glob("rc[2-5].d/S*")
        return {path.stem for path in units} | {path.name[3:] for path in links}

    @property
    def policy(self) -> Path:
        return self.root / POLICY

    def installed(self) -> str:
        return (self.root / "var/lib/dpkg/status").read_text()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_what_it_installs_starts_neither_now_nor_at_boot(machine: Machine) -> None:
    assert machine.install() == 0
    assert "haproxy" in machine.installed()
    assert (machine.root / "told").read_text() == "policy 101\n"
    assert machine.starts_at_boot() == set()
    assert not machine.policy.exists()


def test_what_was_there_before_is_left_as_it_is(machine: Machine) -> None:
    machine.there_before("nginx-common")
    machine.policy.write_text(ADMINISTRATORS)
    assert machine.install() == 0
    assert machine.starts_at_boot() == {"nginx"}
    assert machine.policy.read_text() == ADMINISTRATORS


@pytest.mark.parametrize("killed", ["before", "after"])
def test_a_kill_amid_leaves_what_the_next_one_finishes(machine: Machine, killed: str) -> None:
    assert machine.install(killed) == -signal.SIGKILL
    assert machine.policy.exists()
    assert machine.install() == 0
    assert not machine.policy.exists(), "not taken for the administrator's"
    assert machine.starts_at_boot() == set()
    machine.there_before("apache2")  # later, by somebody else
    assert machine.install() == 0
    assert machine.starts_at_boot() == {"apache2"}


def set_up(suite: Path) -> None:
    """Make the virtual environment, with no packages, and a folder that stands for the engine's."""
    script = ". script/bootstrap; forget_copy; install_python"
    subprocess.run(["bash", "-c", script], cwd=suite, check=True)
    (suite / "build/engine").mkdir(exist_ok=True)


@pytest.mark.long
def test_what_was_set_up_is_kept_in_its_folder_and_made_again_in_a_copy(tmp_path: Path) -> None:
    suite, copy = tmp_path / "suite", tmp_path / "copy"
    (suite / "script").mkdir(parents=True)
    shutil.copy(REPOSITORY / "script/bootstrap", suite / "script")
    (suite / "requirements.txt").touch()
    set_up(suite)
    kept = [".venv/kept", "build/engine/kept"]
    for path in kept:
        (suite / path).touch()
    set_up(suite)
    assert all((suite / path).exists() for path in kept)

    shutil.copytree(suite, copy, symlinks=True)
    set_up(copy)
    assert not any((copy / path).exists() for path in kept)
    programs = [path for path in (copy / ".venv/bin").iterdir() if not path.is_symlink()]
    said = "".join(path.read_text() for path in programs) + (copy / ".venv/pyvenv.cfg").read_text()
    assert str(copy) in said
    assert str(suite) not in said
