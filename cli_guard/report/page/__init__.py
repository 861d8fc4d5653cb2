"""A page of evidence: one HTML file that loads nothing, for a review and for the history of a repository."""
