"""Commonwealth: the memory of an engineering team, kept as notes in a git repository that the team owns."""

__version__ = "0.1.0"
