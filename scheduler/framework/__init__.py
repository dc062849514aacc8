"""What plugins are written against, and what runs them."""
