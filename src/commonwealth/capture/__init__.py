"""Sessions become drafts: what a conversation seems to have taught, with the lines that say it. No input or output."""
