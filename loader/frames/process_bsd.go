//go:build unix && !linux

package frames

import "syscall"

// dieWithParent does nothing here: a child whose parent is gone ends when it writes.
func dieWithParent(*syscall.SysProcAttr) {}
