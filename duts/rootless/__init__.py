"""Networks of containers that nobody with rights made: a program passes every connection."""

from stackcost.duts.rootless.pasta import Pasta as Pasta
from stackcost.duts.rootless.slirp import Slirp as Slirp
