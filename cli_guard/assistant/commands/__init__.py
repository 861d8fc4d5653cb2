"""The commands of the assistant's half: `cli_guard.graph.half` names them for the command line."""
