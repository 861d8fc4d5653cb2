"""The warm server: a process that has everything loaded, and forks a child for each run.

The child calls the same `run_in_process` of the front door as a process of its own would, with the client's arguments,
folder, environment, umask, limits and streams. The server itself runs nothing, so nothing of one run is visible to
another.

    run -- client.py --> server -- serving.py --> child -- child.py --> run_in_process

The front door uses client.py (asks for a run), address.py (finds the server) and control.py (starts and stops it).
The server is serving.py (with request.py and trust.py), child.py and spare.py (do the runs), warming.py (loads), and
leaving.py with watching.py (decide when to exit).
"""
