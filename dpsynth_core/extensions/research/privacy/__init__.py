"""The privacy operations of the extension, with their events."""
