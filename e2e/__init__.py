"""End-to-end tests, and the tools that they and the Makefile use."""
