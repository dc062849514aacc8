"""The page: what the scheduler decides and why, for a browser, in one document that needs only the decisions API."""
