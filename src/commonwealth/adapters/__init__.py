"""The outside world: the command line, the MCP server, hooks, and the worker that a hook leaves behind."""
