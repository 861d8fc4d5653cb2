"""Facts about source code: its language, its syntax tree, its symbols and imports."""
