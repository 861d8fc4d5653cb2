"""The process that stands between us and the commands we run; it imports the standard library alone.

An owner starts one keeper. The keeper holds a guardian ready, forked and waiting, for the next command; the guardian
starts it, is the subreaper of its family (prctl(2), PR_SET_CHILD_SUBREAPER: whoever loses a parent becomes its child),
writes its log, and ends the family: at a time-out, when it is told to, and when the owner is gone, which it sees by
the end of a socket. So no signal to the owner, not even SIGKILL, leaves a process behind. When nothing is left of a
command that nobody has written down, its guardian waits for the next.

    owner -- door.py --> keeper -- serving.py --> guardian -- guardian.py --> command and its family
"""
