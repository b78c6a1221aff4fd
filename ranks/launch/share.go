package launch

import (
	"bytes"
	"os"
	"runtime"

	"nmn/ranks"
)

// Processors returns how many processors this rank should compute on: the processors that it may run on,
// divided among the ranks of its host that may run on exactly the same ones. So ranks that mpirun has bound
// to separate processors keep these, and unbound ones do not each start a thread for every processor of the
// host. All ranks call it at the same time. The value is for runtime.GOMAXPROCS, if GOMAXPROCS is not in the
// environment.
func Processors(g ranks.Group) (int, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "" // as if all ranks were on one host
	}
	return share(g, append([]byte(host+"\n"), affinity()...), runtime.GOMAXPROCS(0))
}

// share divides processors among the ranks with equal where, which run in the same place.
func share(g ranks.Group, where []byte, processors int) (int, error) {
	all, err := g.Gather(where)
	if err != nil {
		return 0, err
	}
	among := 0
	for _, theirs := range all {
		if bytes.Equal(theirs, where) {
			among++
		}
	}
	return max(1, processors/among), nil
}
