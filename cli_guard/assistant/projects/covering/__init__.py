"""Which tests cover some paths or symbols, why, and the command that runs exactly these."""
