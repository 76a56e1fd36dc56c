"""Sphinx: furo, MyST, and the reference generated from docstrings."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "shoal"
author = "The shoal developers"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "cards"]
html_theme = "furo"
html_title = "shoal"
html_static_path = ["pictures"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
autodoc_typehints = "none"
napoleon_custom_sections = ["Guarantee", "Cost"]
napoleon_numpy_docstring = True
nitpicky = False
