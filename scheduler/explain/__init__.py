"""What a decision consisted of, in a form to be read, stored and compared."""
