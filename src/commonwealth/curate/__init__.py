"""Judgement without input or output: secrets, duplicates, contradictions, value."""
