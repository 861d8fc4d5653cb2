"""`cli-guard chat`: a session in which a model reads, plans and proposes, and a person approves.

line of the person -> commands, or turns (runs of the one graph, with a model as its planner) -> display; what needs
approval -> permission -> the approval path of `cli-guard approve` -> the turn goes on with the result
"""
