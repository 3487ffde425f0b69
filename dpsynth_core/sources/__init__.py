"""Sources of private records: files, tables in memory and those of extensions."""
