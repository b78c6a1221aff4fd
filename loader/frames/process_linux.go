package frames

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent has the child killed when this process is, even by SIGKILL.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// limit bounds the resources of a child: address space, and files, because it should write none. It is a
// second line of defence, so a kernel that refuses the limits is no reason to stop.
func limit(pid int, bytes uint64) {
	set := func(resource int, most uint64) {
		_ = unix.Prlimit(pid, resource, &unix.Rlimit{Cur: most, Max: most}, nil)
	}
	set(unix.RLIMIT_FSIZE, 0)
	set(unix.RLIMIT_CORE, 0)
	if bytes > 0 {
		set(unix.RLIMIT_AS, bytes)
	}
}
