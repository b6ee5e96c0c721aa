"""What people pass, read into named float64 columns and checked: arguments, tables, files."""
