"""The optional language model: it writes sentences, searches and plans; the gate decides as it does without one.

[model] -> providers (one chat model) -> gateway (deadline, retries, fallbacks, budget, log) -> answers (checked)
-> guest (the socket in the graph) -> one module for each thing that it helps with
"""
