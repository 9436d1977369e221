"""How Sphinx renders the site. ``python -m tools.site`` hands it the staged sources."""

from __future__ import annotations

from typing import Any

import manyview
from tools.site.docstrings import process
from tools.site.sections import ROOT

project = "manyview"
author = "the manyview authors"
copyright = "BSD-3-Clause"
version = release = manyview.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
root_doc = "index"
exclude_patterns = ["files/**"]
nitpicky = False
suppress_warnings: list[str] = []

myst_enable_extensions = ["colon_fence", "attrs_block", "attrs_inline"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
add_module_names = False
toc_object_entries_show_parents = "hide"
python_maximum_signature_line_length = 88
smartquotes = False
highlight_language = "text"
pygments_style = "a11y-high-contrast-light"

html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}  # light or dark as the reader has it; the theme complains where this is empty
html_title = "manyview"
html_static_path = [str(ROOT / "tools/site/look")]
html_css_files = ["look.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_copyright = False
html_favicon = str(ROOT / "tools/site/look/favicon.svg")
html_sidebars = {"**": ["sidebar-nav-bs"], "index": []}
html_theme_options = {
    "logo": {"text": "manyview"},
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button-field"],
    "show_nav_level": 1,
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": [],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "back_to_top_button": False,
    "use_edit_page_button": False,
}


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", process, priority=400)
