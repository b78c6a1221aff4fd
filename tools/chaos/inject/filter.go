//go:build linux && (amd64 || arm64)

package inject

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// where gives the arguments of a call that hold its file.
type where struct {
	name string
	file int // index of the descriptor, or -1
	dir  int // index of the folder's descriptor, which the path follows, or -1
}

var filtered = map[int32]where{
	unix.SYS_WRITE:           {"write", 0, -1},
	unix.SYS_PWRITE64:        {"pwrite64", 0, -1},
	unix.SYS_WRITEV:          {"writev", 0, -1},
	unix.SYS_FSYNC:           {"fsync", 0, -1},
	unix.SYS_FDATASYNC:       {"fdatasync", 0, -1},
	unix.SYS_FTRUNCATE:       {"ftruncate", 0, -1},
	unix.SYS_FALLOCATE:       {"fallocate", 0, -1},
	unix.SYS_SENDFILE:        {"sendfile", 0, -1},
	unix.SYS_COPY_FILE_RANGE: {"copy_file_range", 2, -1},
	unix.SYS_OPENAT:          {"openat", -1, 0},
	unix.SYS_UNLINKAT:        {"unlinkat", -1, 0},
	unix.SYS_MKDIRAT:         {"mkdirat", -1, 0},
	unix.SYS_SYMLINKAT:       {"symlinkat", -1, 1},
	unix.SYS_LINKAT:          {"linkat", -1, 2},
	unix.SYS_RENAMEAT:        {"renameat", -1, 2},
	unix.SYS_RENAMEAT2:       {"renameat2", -1, 2},
}

// native is the kernel's number of this processor.
var native = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}[runtime.GOARCH]

// Offsets in struct seccomp_data.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16
)

// filter makes the program of the kernel's filter. Calls that may change files are sent to the listener, all
// others pass.
func filter() []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	answer := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	// equal skips this number of instructions if the loaded word differs.
	equal := func(k uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: skip}
	}
	pass, tell := answer(unix.SECCOMP_RET_ALLOW), answer(unix.SECCOMP_RET_USER_NOTIF)
	program := []unix.SockFilter{load(offsetArch), {Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: native, Jt: 1},
		pass,
		load(offsetNumber)}
	// A file that is opened only to be read passes.
	const changing = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC
	program = append(program, equal(unix.SYS_OPENAT, 4), load(offsetArgs+8*2),
		unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: changing, Jf: 1}, tell, pass)
	for number := range filtered {
		if number != unix.SYS_OPENAT {
			program = append(program, equal(uint32(number), 1), tell)
		}
	}
	return append(program, pass)
}

// install puts the filter on this thread and its later programs, and returns its listener.
func install() (int, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	code := filter()
	program := unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]}
	set := func(flags uintptr) (int, unix.Errno) {
		fd, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags,
			uintptr(unsafe.Pointer(&program)))
		return int(fd), errno
	}
	// From Linux 5.19 on, a call sent to the listener is not restarted when a signal arrives.
	fd, errno := set(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	if errno == unix.EINVAL {
		fd, errno = set(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	}
	if errno != 0 {
		return 0, errno
	}
	return fd, nil
}
