"""nginx's configuration file, rendered for one machine and one installed nginx."""

from collections.abc import Mapping
from pathlib import Path

from stackcost.servers.nginx_status import Build
from stackcost.servers.template import render_template

Directives = Mapping[str, Mapping[str, str]]  # values by name, by context: main, events, http


def render(build: Build, **settings: object) -> str:
    """The text of nginx.conf; every value the template names has to be given."""
    template = Path(__file__).with_name("nginx.conf.j2")
    return render_template(template, proxying_modules=build.proxying_modules, **settings)
