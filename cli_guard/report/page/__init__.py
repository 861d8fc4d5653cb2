"""A page of evidence: what a repository holds about answers, and its history."""
