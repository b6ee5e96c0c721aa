"""Questions about tables that are larger than memory: learned from a sample of rows, answered from all of them."""
