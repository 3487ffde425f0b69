"""The audit of people who are left out by a coin."""
