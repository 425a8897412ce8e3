"""The memory server as a server of the Model Context Protocol: tools, resources and a prompt over the REST API."""
