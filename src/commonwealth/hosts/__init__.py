"""All that is particular to one coding tool: what its hooks say and read, and how its plugin is installed."""
