"""What might help, plugin by plugin: changes that are worth a try. None of them is listed before it was tried."""
