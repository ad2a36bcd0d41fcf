"""A run of which every string that may be free is an attack on the page or the terminal."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from stackcost.contracts.sample import Kind, Sample
from stackcost.contracts.trial import Trial
from stackcost.store import RunFolder
from tests.analysis.runs import compared
from tests.analysis.trials import END, START, counter
from tests.report.stored import store

SCRIPT = "<script>alert(1)</script>"
MARKUP = (
    f"{SCRIPT}<img src=x onerror=alert(1)>\"'><svg onload=alert(1)>"
    "<a href='javascript:alert(1)'>a</a>[b](javascript:alert(1))![c](http://evil.example/c.png)"
    "<http://evil.example/>&#60;script>"
)
TERMINAL = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\u202e[bold red]x[/nope][link=http://evil.example]y"
TEX = "$\\frac{1}{$ $\\input{/etc/passwd}$"
ATTACK = MARKUP + TERMINAL + TEX
NGINX = f"nginx/kernel{ATTACK}".replace(":", "").replace(",", "")  # a colon divides a system's name
PEER = "astf-peer"


def attacking_run(root: Path) -> RunFolder:
    """Known trials under hostile names, flags, labels, reasons, and a hostile manifest."""
    run = store(root, [_attacking(trial) for trial in compared()])
    path = run.path / "manifest.json"
    stored = json.loads(path.read_text())
    stored["experiment"] |= {"title": ATTACK, "baseline": NGINX}
    change = dict.fromkeys(("setting", "wanted", "before", "after", "source", "reason"), ATTACK)
    described = {"name": ATTACK, "version": ATTACK}
    described |= {"tuning": {"tier": ATTACK, "changes": [change | {"where": "server"}]}}
    stored |= {
        "run": ATTACK,
        "failure": ATTACK,
        "command": [ATTACK],
        "changed": [ATTACK],
        "started": ATTACK,
        "systems": [{"name": name, "server": name} for name in (NGINX, PEER, ATTACK)],
        "not_measured": {ATTACK: ATTACK},
        "machine": _attacked(stored["machine"]),
        "servers": {NGINX: described, "generator": {"program": ATTACK}},
        "resumed": [{"time": ATTACK, "command": [ATTACK], "first_trial": 1, "changed": [ATTACK]}],
    }
    path.write_text(json.dumps(stored))
    return run


def _attacked(machine: Any) -> Any:
    if isinstance(machine, dict):
        return {key: _attacked(value) for key, value in machine.items()}
    return ATTACK if isinstance(machine, str) else machine


def _attacking(trial: Trial) -> Trial:
    """A trial whose flags, slab caches, threads, softirq vectors and reasons are hostile."""
    server = NGINX if trial.server == "nginx/kernel" else trial.server
    found = replace(trial, server=server)
    if trial.number == 1:
        found.set_aside = ATTACK
    for at, sample in enumerate(found.samples):
        labels = dict(sample.labels)
        for name in ("command", "cache"):
            if name in labels:
                labels[name] = ATTACK
        found.samples[at] = sample._replace(labels=labels, source=ATTACK)
    vector = {"cpu": "1", "vector": ATTACK}
    found.samples += counter("softirq.time", 0.1, vector)
    why = {"cpu": "1", "process": "7", "thread": "7"}
    found.samples.append(
        Sample(START, "softirq.time", {}, None, "s", Kind.COUNTER, ATTACK, ATTACK)  # a flag
    )
    found.samples += [
        Sample(at, "cpu.cycles", why, None, "1", Kind.COUNTER, ATTACK, ATTACK)
        for at in (START, END)
    ]
    return found
