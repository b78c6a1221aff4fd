//go:build !(linux && (amd64 || arm64))

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "chaos: faults are injected by the Linux kernel, on amd64 and arm64; there are none here")
	os.Exit(1)
}
