"""The hook path: request, precheck, load, run, store; `render/` shows the result."""
