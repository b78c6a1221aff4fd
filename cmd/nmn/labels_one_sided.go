package main

import (
	"fmt"
)

// tellOneSided says which words the training labels tell nothing of, before they are trained on.
func tellOneSided(p *program, d *dataSets) {
	never, always := oneSided(classNames(d.train.Vocabulary), d.census.Positive, d.census.Bags)
	if never == nil && always == nil {
		return
	}
	p.log.Info("one-sided labels", "split", d.train.Name, "never", never, "always", always)
	if !p.quiet {
		fmt.Fprintf(p.status, "labels  of %d words %s\n", d.train.Vocabulary.Len(), describeOneSided(never, always))
	}
}
