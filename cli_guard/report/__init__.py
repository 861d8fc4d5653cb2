"""What is shown of more than one run: the page, scans, merged parts, lives of findings."""
