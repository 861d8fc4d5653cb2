"""What each command, option, operand and path does."""
