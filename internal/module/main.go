// Module renames the module of this repository: the paths in its go.mod files, every import, and every
// other mention of a package by its import path.
//
//	make module MODULE=host/owner/nmn    or    go run ./internal/module host/owner/nmn
//
// Where nmn will be hosted is not known, and its first path, nmn, has no dot, so that no other module can require it.
// Whoever publishes the repository chooses a path, runs this program once and commits the result. The same path again
// changes nothing, another one renames again, and nmn goes back to the tree of before, byte for byte.
//
// The program needs the standard library only, for it must work in a tree whose modules do not resolve.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: make module MODULE=host/owner/nmn")
		os.Exit(2)
	}
	to := os.Args[1]
	if err := checkPath(to); err != nil {
		fmt.Fprintln(os.Stderr, "module:", err)
		os.Exit(2)
	}
	from, changed, err := rename(".", to)
	if err != nil {
		fmt.Fprintln(os.Stderr, "module:", err)
		os.Exit(1)
	}
	if from == to {
		fmt.Printf("the module is %s already: no file changed\n", to)
		return
	}
	fmt.Printf("module %s is now %s: %d files changed\n", from, to, changed)
}
