"""Follow data from where somebody else chose it to where it can do harm, inside one file."""
