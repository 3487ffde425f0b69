"""Admission of visitors: everything before the first page. The rest of the wizard only asks for the visitor's owner id."""
