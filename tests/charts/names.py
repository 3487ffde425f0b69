"""Names that are code, markup or awkward text, for charts."""

HOSTILE = ("<script>alert(1)</script>", "a.b[0]", "datum.x > 1", "**bold** :smile: $x$", "quote'\"\\", "日本", "line\nbreak")
