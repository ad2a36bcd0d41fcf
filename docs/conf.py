"""How Sphinx makes the site of these pages; script/docs runs it.

The pages are Markdown, written as for a code host. The site loads nothing from another host. It can
be opened from a folder, because the search index is a script and not a request.
"""

project = "stackcost"
extensions = ["myst_parser"]
myst_heading_anchors = 3  # a link to a heading is checked, and is written as on a code host
myst_enable_extensions = ["colon_fence"]
smartquotes_action = "q"  # quotes only, because -- begins an option
highlight_language = "none"  # most indented blocks are text of a terminal
pygments_style = "friendly"

html_theme = "furo"
html_title = "stackcost"
html_static_path = ["site.css"]
html_extra_path = ["../build/site-files"]  # what script/docs makes: a report, and the schemas
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
