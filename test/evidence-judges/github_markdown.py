"""Renders Markdown as GitHub does: JSON lists of texts on stdin, the same of HTML on stdout."""

import json
import sys

import cmarkgfm

render = cmarkgfm.github_flavored_markdown_to_html
json.dump([[render(text) for text in texts] for texts in json.load(sys.stdin)], sys.stdout)
