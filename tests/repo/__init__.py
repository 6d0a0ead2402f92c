"""Tests of `repo`: git moves the files."""
