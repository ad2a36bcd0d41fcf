"""What renders reports and opens notebooks is an extra: measuring and printing need none of it."""

from importlib.metadata import PackageNotFoundError, distribution

from rich.console import Console

from stackcost.contracts.errors import StackcostError

# What the suite calls itself; the extra `notebooks` of pyproject.toml brings all of it.
PACKAGES = ("matplotlib", "nbclient", "nbconvert", "ipykernel", "jupyterlab")
INSTALL = "pip install 'stackcost[notebooks]'"


def missing() -> list[str]:
    """Packages of the extra that are not installed."""
    return [name for name in PACKAGES if not _installed(name)]


def can_render(console: Console) -> bool:
    """Whether reports can be rendered here; where not, the console tells why."""
    if absent := missing():
        console.print(
            f"no report.html was written, because {', '.join(absent)} is not installed: {INSTALL}",
            markup=False,
        )
    return not absent


def require() -> None:
    """StackcostError, which names the extra, when a part of it is not installed."""
    if absent := missing():
        raise StackcostError(f"reports and notebooks need {', '.join(absent)}", INSTALL)


def _installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
