"""The processes between us and the commands we run; they import the standard library alone.

An owner starts one supervisor. It keeps a monitor forked and waiting for the next command. The monitor starts the
command, is the subreaper of its process tree (prctl(2), PR_SET_CHILD_SUBREAPER: orphans become its children), writes
its log, and ends the tree: at a time-out, on request, and when the owner is gone, which it sees by the end of a
socket. So no signal to the owner, not even SIGKILL, leaves a process behind. After a command without a record the
monitor waits for the next one.

    owner -- launcher.py --> supervisor -- serving.py --> monitor -- monitor.py --> command and its process tree
"""
