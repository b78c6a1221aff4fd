package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
)

// scratchVariable names the folder that a calling Python program provides for its arrays. Standard input is then a pipe
// that ends with that program.
const scratchVariable = "NMN_SCRATCH"

// scratchPrefix begins the name of every such folder, so that no other folder is ever removed.
const scratchPrefix = "nmn-py-"

// endWithCaller ends the work of the program, after saving, if the calling program has ended. leave must be
// called after the work; it then removes the folder.
func endWithCaller(end context.CancelCauseFunc, folder string, in io.Reader) (leave func() error) {
	if !filepath.IsAbs(folder) || !strings.HasPrefix(filepath.Base(folder), scratchPrefix) {
		return func() error { return nil }
	}
	var died atomic.Bool
	go func() {
		io.Copy(io.Discard, in) // an error also means the end
		died.Store(true)
		end(ended{"the program that called this one has ended"})
	}()
	return func() error {
		if !died.Load() {
			return nil
		}
		return os.RemoveAll(folder)
	}
}
