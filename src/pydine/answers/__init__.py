"""From a question to nats, shared by all entry points: settings, determined columns, fitting, columns of any kind."""
