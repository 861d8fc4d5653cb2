"""Two states of a change, compared: what went, what came, and what became looser.

How it works, in the order of the data:

touched       says for each side which lines a hunk touches; a removal touches the gap between two new lines.
reading       walks the syntax tree of one side, only through nodes that a hunk touches, and returns its `CodeFact`s
              (calls, arguments, decorators, guards, conditions, options, definitions, texts, comments) and the units
              (functions, classes) around them. `nodes` has what is around a node, `conditions` reads an `if`,
              `plain_text` what has no grammar: settings in lines, templates. `naming` writes the names of every
              language with dots.
difference    takes the facts of both sides of a file as multisets: what is on both sides is neither gone nor new, so
              a line that is wrapped or moved shows nothing. `ChangeDifference` pairs the units over all files of a
              change: by name in the file, by name in another file, then by likeness.
loosening     compares what went with what came in the same unit: the same condition with one operand less, the same
              call with a weaker argument, a weaker function. `comparisons`, `patterns`, `values` and `ranks` say of two
              comparisons, regular expressions, values and words which one lets more through, and `lists` which list.
handlers      reads what catches errors, and says which calls' errors pass by now.
order         says which checks of a unit now come behind what they guarded.

Which fact is a protection is not said here: `reviewers/protections` matches facts with `rules/protections/*.toml`. The
work is bounded by counts of nodes and facts; what is over a bound is named in `Side.unread`. Of a file that the change
only adds to nothing is read until another file has lost something.
"""
