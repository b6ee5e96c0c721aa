"""What leaves a command: answers on the standard output, notes and progress beside them, files."""
