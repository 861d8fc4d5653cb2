"""The taints of a recursive read: all files below a folder, or their names. They count when something is sent."""

# Before a folder: the contents of all files below it. With NAMES before it, their names.
BELOW = "below "
NAMES = "names "


def drop_places(taints: frozenset[str]) -> frozenset[str]:
    """Leave out the taints of recursive reads, for whoever asks whether there is a taint at all."""
    return frozenset(each for each in taints if BELOW not in each)


def read_named(taints: frozenset[str]) -> frozenset[str]:
    """Return the taints of the contents of files, by those of their names."""
    return frozenset(each.removeprefix(NAMES) for each in taints)
