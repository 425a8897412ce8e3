"""Django's PostgreSQL backend with the scope of apps/tenants/scope.py set in each transaction."""
