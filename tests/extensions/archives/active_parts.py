"""What a browser would run or load in a codebook."""

_PARTS = (
    b'<?xml-stylesheet href="//a.example"?>',
    b'<!DOCTYPE a SYSTEM "//a.example">',
    b'<html:img src="//a.example" />',
    b'<x:script xmlns:x="http://www.w3.org/1999/xhtml">alert(1)</x:script>',
    b'<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>',
)
ACTIVE = tuple(("codebook.xml", b"<dataDscr>", part + b"<dataDscr>") for part in _PARTS)
"""File, a part of it, and what takes its place."""
