"""Transport: connections, watches, writes and leases, and an in-process cluster in their place."""
