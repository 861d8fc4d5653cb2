"""The process between us and a command that we run; it imports the standard library, and psutil to end a process tree.

An owner starts one monitor for each command. The monitor starts the command, is the subreaper of its process tree
(prctl(2), PR_SET_CHILD_SUBREAPER: orphans become its children), writes its log, and ends the tree: at a time-out, on
request, and when the owner is gone, which it sees by the end of a socket. So no signal to the owner, not even SIGKILL,
leaves a process behind. The guard above it ends the tree if the monitor itself is killed.

    owner -- launcher.py --> guard --> monitor -- monitor.py --> command and its process tree
"""
