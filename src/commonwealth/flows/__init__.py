"""One file for each promise to the user; the story of each reads from top to bottom."""
