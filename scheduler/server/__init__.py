"""The HTTPS endpoints of the process: probes, metrics and configuration, with delegated access control."""
