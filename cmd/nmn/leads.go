package main

import (
	ranks "nmn/group"
	"nmn/run"
)

// leads reports whether this process is the one that writes what the ranks of a job have found: rank 0, or the only one.
func leads(g ranks.Group) bool { return ranks.Of(g).Rank() == 0 }

// agree makes what is wrong on one rank an error of all, with the same exit code: before work that they do together.
func agree(g ranks.Group, err error) error { return run.AgreeOn(g, err) }
