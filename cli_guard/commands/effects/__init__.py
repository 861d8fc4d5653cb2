"""The effects of each command, option, operand and path."""
