"""Markdown files are the truth: their names, their text, and what is derived from them."""
