"""Tables of databases, read by statements that cannot change anything."""
