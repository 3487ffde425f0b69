"""The privacy operations of the wing, with their events."""
