"""Sphinx configuration of the documentation site. Build it with `./run docs`."""

import os
import re

project = "dissent"
author = "the dissent developers"
copyright = "the dissent developers"
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_copybutton",
    "breathe",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_files/**"]
html_theme = "furo"
html_title = "dissent"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
templates_path = []
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 4
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"
breathe_projects = {"dissent": os.environ.get("DISSENT_DOXYGEN_XML", "")}
breathe_default_project = "dissent"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False
autodoc_member_order = "bysource"
autodoc_mock_imports = ["datasets", "matplotlib", "torch", "transformers"]  # optional packages
autodoc_typehints = "none"
autodoc_preserve_defaults = True
suppress_warnings = ["misc.highlighting_failure", "duplicate_declaration.c"]
smartquotes = False
pygments_style = "default"


def plain_docstring(app, what, name, obj, options, lines):
    """Docstrings are plain text with `code`: makes literals of what reStructuredText would read as references."""
    for i, line in enumerate(lines):
        if line.lstrip().startswith(">>>"):
            continue
        line = re.sub(r"(?<!`)`([^`\n]+)`(?!`)", r"``\1``", line)
        parts = re.split(r"(``[^`]*``)", line)
        parts[::2] = [re.sub(r"\b([A-Za-z]\w*_)(?!\w)", r"``\1``", part).replace("*", r"\*").replace("|", r"\|") for part in parts[::2]]
        lines[i] = "".join(parts)


def setup(app):
    app.connect("autodoc-process-docstring", plain_docstring, priority=100)
