"""Rules as data: what each looks for, why it matters, what to do, and examples that prove it."""
