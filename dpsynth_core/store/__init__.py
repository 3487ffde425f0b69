"""The store: projects, runs, jobs and the ledger in a database, and the keys and folders of an installation."""
