"""stackcost: what a connection costs, in CPU and memory, on any network stack."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("stackcost")
except PackageNotFoundError:  # run from a checkout that was not installed
    __version__ = "0+unknown"
