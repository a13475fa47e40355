"""How the documentation is built: `make docs`."""

import os
import re
from pathlib import Path
from weakref import WeakSet

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

import liebn
from liebn.groups import catalog

os.environ.setdefault("OMP_NUM_THREADS", "1")  # for the processes that tutorials start

HERE = Path(__file__).parent

project = "liebn"
author = "liebn developers"
copyright = author  # noqa: A001
version = release = liebn.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_generated/*.md", "tutorials", "results/records"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types in signatures need not all be pages here
suppress_warnings = ["config.cache"]  # sphinx_gallery_conf holds functions, which are not cached

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # shapes and types stand in the text and in the source
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_use_rtype = False
napoleon_use_ivar = True

highlight_language = "none"  # Python says so, and commands are not Python

html_theme = "furo"
html_title = f"liebn {release}"
html_static_path = ["_static"]
html_css_files = ["liebn.css"]
html_theme_options = {"navigation_with_keys": True}
html_show_sphinx = False

copybutton_exclude = ".linenos, .gp, .go"

_shown = WeakSet()


def _figures(_block, block_vars, gallery_conf):
    """Show what figures a block leaves in variables; titles become the alternative text."""
    pictures = []
    for figure in block_vars["example_globals"].values():
        if isinstance(figure, Figure) and figure not in _shown:
            _shown.add(figure)
            path = next(block_vars["image_path_iterator"])
            figure.savefig(path, dpi=100)
            titles = [axes.get_title() for axes in figure.axes]
            pictures.append(figure_rst([path], gallery_conf["src_dir"], "; ".join(titles)))
    return "".join(pictures)


sphinx_gallery_conf = {
    "examples_dirs": "tutorials",
    "gallery_dirs": "_generated/tutorials",
    "filename_pattern": r"/\d_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 0,
    "default_thumb_file": str(HERE / "images" / "demo.png"),
    "write_computation_times": False,
    "image_scrapers": (_figures,),
    "reset_modules": ("matplotlib",),
    "remove_config_comments": True,
    "notebook_images": False,
}


def _spaces_table() -> str:
    """The catalog as a table, in Markdown."""
    lines = [
        "| name | points | operation | exp is one-to-one within | example |",
        "|---|---|---|---|---|",
    ]
    for name, factory in catalog.items():
        space = factory(3)
        shape = " × ".join(map(str, space.point_shape)) or "numbers"
        kind = "group" if space.associative else "gyrogroup"
        radius = f"{space.injectivity_radius:.4g}".replace("inf", "everywhere")
        lines.append(f'| `{name}` | {shape} | {kind} | {radius} | `groups.catalog["{name}"](3)` |')
    return "\n".join(lines) + "\n"


def _list_of_results() -> str:
    """A list of the pages beside results/README.md, which may have none."""
    if len(list(HERE.glob("results/*.md"))) == 1:
        return "There is none yet.\n"
    return "```{toctree}\n:glob:\n:maxdepth: 1\n\n*\n```\n"


generated = HERE / "_generated"
generated.mkdir(exist_ok=True)
(generated / "spaces.md").write_text(_spaces_table(), encoding="utf-8")
(generated / "results.md").write_text(_list_of_results(), encoding="utf-8")


def _plain_text(*arguments):
    """Docstrings are plain text with code in single backticks: make reStructuredText of them."""
    lines = arguments[-1]
    for number, line in enumerate(lines):
        parts = re.split(r"(``[^`]+``|`[^`]+`)", line)
        lines[number] = "".join(
            f"``{part.strip('`')}``" if part.startswith("`") else re.sub(r"([*|])", r"\\\1", part)
            for part in parts
        )


def _skip(_app, _what, name, _member, skip, _options):
    """What torch asks of every module is no news on these pages."""
    return True if name == "extra_repr" else skip


def setup(app):
    app.connect("autodoc-process-docstring", _plain_text, priority=400)  # before napoleon
    app.connect("autodoc-skip-member", _skip)
