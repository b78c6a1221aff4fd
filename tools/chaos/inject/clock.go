//go:build linux && (amd64 || arm64)

package inject

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func putInt64(b []byte, v int64) { binary.NativeEndian.PutUint64(b, uint64(v)) }

// hideVDSO resumes the stub that waits at the socket, and stops it when it has become the program. It removes
// from its auxiliary vector the page by which a program reads the clock without a system call. The program
// then asks the kernel, and so this process.
func hideVDSO(pid, socket int) error {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(pid), 0, unix.PTRACE_O_TRACEEXEC, 0, 0)
	if errno != 0 {
		return os.NewSyscallError("ptrace", errno)
	}
	if _, err := unix.Write(socket, []byte{0}); err != nil {
		return err
	}
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &status, unix.WALL, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return os.NewSyscallError("wait4", err)
		}
		if !status.Stopped() {
			return fmt.Errorf("the program ended before it began: %v", status)
		}
		if status.TrapCause() == unix.PTRACE_EVENT_EXEC {
			break
		}
		if err := unix.PtraceCont(pid, passOn(status.StopSignal())); err != nil {
			return os.NewSyscallError("ptrace", err)
		}
	}
	if err := patchVector(pid); err != nil {
		return fmt.Errorf("the clock of the program: %w", err)
	}
	return os.NewSyscallError("ptrace", unix.PtraceDetach(pid))
}

// passOn is the signal to pass on after a stop.
func passOn(s unix.Signal) int {
	if s == unix.SIGTRAP || s == unix.SIGSTOP {
		return 0
	}
	return int(s)
}

// Types of entries of the auxiliary vector.
const (
	entryIgnored = 1
	entryVDSO    = 33
)

// patchVector overwrites the entry of the page in the program's stack: argument count, arguments, 0, environment, 0,
// pairs of type and value.
func patchVector(pid int) error {
	top, err := stackPointer(pid)
	if err != nil {
		return err
	}
	b, err := readMemory(pid, top, 1<<20)
	if len(b) < 16 {
		return err
	}
	word := func(i int) uint64 { return binary.NativeEndian.Uint64(b[8*i:]) }
	words := len(b) / 8
	at := 1 + int(word(0)) + 1
	for at < words && word(at) != 0 {
		at++
	}
	for at++; at+1 < words && word(at) != 0; at += 2 {
		if word(at) == entryVDSO {
			content := make([]byte, 8)
			putInt64(content, entryIgnored)
			return writeMemory(pid, top+uint64(8*at), content)
		}
	}
	return nil // this kernel gives no such page
}

// stackPointer is the stack pointer of a process that is stopped or waits in the kernel, from
// /proc/PID/syscall.
func stackPointer(pid int) (uint64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 3 {
		return 0, fmt.Errorf("/proc/%d/syscall says %q", pid, text)
	}
	var pointer uint64
	_, err = fmt.Sscanf(fields[len(fields)-2], "0x%x", &pointer)
	return pointer, err
}
