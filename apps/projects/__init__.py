"""Services of projects, members, keys and logins; the models are in apps.tenants."""
