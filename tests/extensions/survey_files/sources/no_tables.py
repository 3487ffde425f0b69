"""Files that begin like one of a survey program and are none. For `tests/sources/test_files.py`."""

CONTENTS = [(b"\xd0\xcf\x11\xe0" + bytes(100), "no workbook")]
