"""A run as an attacker would hand it over: its files are named in the manifest, or lie in wait."""

import json
import os
from pathlib import Path

from stackcost.store import RunFolder
from tests.report.stored import store

# Modules that reading imports, templates and settings that libraries look for where they run.
IN_WAIT = (
    "stackcost/__init__.py",
    "pandas.py",
    "matplotlib.py",
    "sitecustomize.py",
    "ipython_config.py",
    "jupyter_server_config.py",
    "jupyter_nbconvert_config.py",
    "basic/index.html.j2",
    "basic/null.j2",
)
TEMPLATE = "{{ cycler.__init__.__globals__.os.system('touch %s') }}"


def hostile_run(root: Path, marker: Path) -> RunFolder:
    """Each of its files makes `marker` when anything executes it."""
    run = store(root)
    python = f"open({str(marker)!r}, 'w').close()\n"
    logs = run.path / "logs"
    logs.mkdir()
    (logs / "evil.py").write_text(python)
    (logs / "evil.yaml").write_text(f"!!python/object/apply:os.system ['touch {marker}']\n")
    for name in IN_WAIT:
        path = run.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(TEMPLATE % marker if name.endswith("j2") else python)
    (run.path / "basic" / "conf.json").write_text(json.dumps({"base_template": "base"}))
    (run.path / "matplotlibrc").write_text("text.usetex: True\n")
    manifest = run.path / "manifest.json"
    stored = json.loads(manifest.read_text())
    plan = stored["experiment"]
    plan["servers"] = [str(logs / "evil.py"), "astf-peer"]
    plan["baseline"] = "evil"
    plan["matrix"] = plan["matrix"] | {"workers": [1]}
    plan["published"] = str(logs / "evil.yaml")
    for part in ("load", "memory"):
        plan[part]["profile"] = str(logs / "evil.py")
    manifest.write_text(json.dumps(stored))
    return run


def lay_links(run: RunFolder, victim: Path) -> None:
    """Symbolic links where reading commands write, to a file of somebody else."""
    for name in (
        "summary.json",
        ".summary.json.unfinished",
        "report.html",
        ".report.html.unfinished",
        "report.ipynb",
        ".report.ipynb.unfinished",
    ):
        (run.path / name).unlink(missing_ok=True)
        os.symlink(victim, run.path / name)
