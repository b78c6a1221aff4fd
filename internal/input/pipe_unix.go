//go:build unix

package input

import (
	"os"
	"syscall"
)

// openPipe opens a named pipe without waiting for a writer.
func openPipe(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
