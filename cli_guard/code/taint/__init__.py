"""Follow data from where somebody else chose it to where it can do harm, one call deep into other files."""
