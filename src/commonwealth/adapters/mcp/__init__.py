"""The MCP server over stdio: a small JSON-RPC loop of ours, tools, resources and prompts.

What answers a client's first requests imports the standard library only; pydantic and the flows are loaded
behind it.
"""
