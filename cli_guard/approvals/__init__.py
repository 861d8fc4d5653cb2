"""What counts as an approval: statements, their signatures, signers and attestations."""
