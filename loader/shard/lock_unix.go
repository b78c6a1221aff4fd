//go:build unix

package shard

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock keeps other writers away for as long as the file is open, and fails at once where there is one.
func lock(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
