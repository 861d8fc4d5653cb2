"""Real commands under the gate: exec, processes and checks."""
