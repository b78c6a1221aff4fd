//go:build !unix

package input

import "os"

func openPipe(path string) (*os.File, error) { return os.Open(path) }
