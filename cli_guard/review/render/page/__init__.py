"""The HTML of a page: its markup, style and script, and its findings."""
