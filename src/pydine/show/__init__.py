"""What is shown to people: figures and progress bars. matplotlib and rich are imported when something is shown."""
