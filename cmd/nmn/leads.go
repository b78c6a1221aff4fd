package main

import ranks "nmn/group"

// leads reports whether this process is the one that writes what the ranks of a job have found: rank 0, or the only one.
func leads(g ranks.Group) bool { return ranks.Of(g).Rank() == 0 }

// agree returns an error on every rank where one has an error: before work that they do together.
func agree(g ranks.Group, err error) error { return ranks.Agree(ranks.Of(g), err) }
