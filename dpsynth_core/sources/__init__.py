"""Sources of private records: files, tables in memory and tables at places of extensions."""
