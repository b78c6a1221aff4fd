//go:build !windows

package durable

import "syscall"

// full are the errors of a disk, a quota, or a limit on the size of files that leaves no room.
var full = []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}
