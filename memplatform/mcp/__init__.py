"""The MCP server at /mcp: the tools of the client package, whose requests stay within the process."""
