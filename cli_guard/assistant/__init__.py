"""The assistant: answers and proposals for a request at the terminal. No hook loads it."""
