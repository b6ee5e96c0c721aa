"""How work is done: units planned, asked of the cache, and run in threads, in processes or on a cluster."""
