"""Drive the real Claude Code and Codex against scripted models in scratch homes: no network, no key."""
