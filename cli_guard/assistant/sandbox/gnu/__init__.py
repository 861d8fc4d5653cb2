"""Commands of coreutils and diffutils that the interpreter has otherwise than GNU: written again here.

Each is a function from a call to an answer, with the standard output and exit code of GNU; nothing of them is ours
to design. An option that is missing is an error, never passed over.
"""
