package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"nmn/internal/durable"
)

// fillsDisk is nmn on a file system that is full from one of its messages until another: NMN_TEST_FILL names both. The
// program waits while its messages are looked at, so that neither comes too early or too late.
func fillsDisk(messages string) int {
	from, until, _ := strings.Cut(messages, " until ")
	var said strings.Builder
	full, freed := false, false
	watch := func(p []byte) {
		said.Write(p)
		if !full && strings.Contains(said.String(), from) {
			fill, err := os.Create("fill")
			if err == nil {
				_, err = io.Copy(fill, zeros{})
			}
			if !durable.Full(err) {
				panic(err)
			}
			full = true
		}
		if full && !freed && strings.Contains(said.String(), until) {
			if err := os.Remove("fill"); err != nil {
				panic(err)
			}
			freed = true
		}
	}
	watch(nil)
	c := callTo(context.Background(), watch, os.Args[1:]...)
	fmt.Print(c.out)
	fmt.Fprint(os.Stderr, c.err)
	if !freed {
		panic("the disk was never full and free again")
	}
	return c.code
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
