"""The warm server: a process that has everything loaded, and forks a child for each run that asks for one.

The child runs the very same `by_itself` of the front door as a process of its own would, in the surroundings of whoever
asks: arguments, folder, environment, umask, limits and streams. The server itself never runs anything, so nothing of
one run is there for another to see.

    run -- client.py --> server -- serving.py --> child -- child.py --> by_itself

Below the front door stand client.py, which asks, address.py, which says where, and control.py, which leaves a server
behind. Above it stands the server: serving.py hears (request.py, caller.py, trust.py), child.py and spare.py do,
warming.py loads, and leaving.py says when it is enough, told by watching.py.
"""
