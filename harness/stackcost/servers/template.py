"""Renders configuration files from templates that are next to the code."""

from pathlib import Path

import jinja2


def render_template(path: Path, **values: object) -> str:
    """Render a template; every value that it names must be given."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(path.parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(path.name).render(**values)
