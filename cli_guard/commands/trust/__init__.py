"""What a trusted work tree lifts from the effects of a command, by topic; the lists are in rules/workspace.toml."""
