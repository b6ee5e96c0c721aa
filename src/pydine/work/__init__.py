"""How units are planned, looked up in the cache, and run in threads, in processes or on a cluster."""
