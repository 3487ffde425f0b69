"""Sources of private records: files, databases and tables in memory."""
