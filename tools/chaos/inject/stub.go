//go:build linux && (amd64 || arm64)

package inject

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// stubName is the name under which the program starts itself as a stub.
const stubName = "inject-stub"

// stubSocket is the descriptor of the stub's end of the socket pair.
const stubSocket = 3

func init() {
	if len(os.Args) > 1 && os.Args[0] == stubName {
		runtime.LockOSThread() // the first thread, as this is an init: the filter is on it, and it stays on exec
		fmt.Fprintln(os.Stderr, "inject: cannot start the program:", stub(os.Args[1:]))
		os.Exit(127)
	}
}

// stub installs the filter, hands over its listener and becomes the program.
func stub(args []string) error {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	unix.CloseOnExec(stubSocket)
	environment := os.Environ()
	listener, err := install()
	if err != nil {
		return fmt.Errorf("the kernel's filter of system calls: %w", err)
	}
	if err := unix.Sendmsg(stubSocket, []byte{0}, unix.UnixRights(listener), nil, 0); err != nil {
		return err
	}
	return unix.Exec(path, args, environment)
}

// pair makes the sockets over which the stub hands over its listener.
func pair() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "stub"), os.NewFile(uintptr(fds[1]), "supervisor"), nil
}

// receive takes the listener from the stub.
func receive(socket int) (int, error) {
	rights := make([]byte, unix.CmsgSpace(4))
	for {
		n, rn, _, _, err := unix.Recvmsg(socket, make([]byte, 1), rights, unix.MSG_CMSG_CLOEXEC)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, fmt.Errorf("the stub ended before the program began")
		}
		messages, err := unix.ParseSocketControlMessage(rights[:rn])
		if err != nil || len(messages) != 1 {
			return 0, fmt.Errorf("no listener came from the stub: %v", err)
		}
		fds, err := unix.ParseUnixRights(&messages[0])
		if err != nil || len(fds) != 1 {
			return 0, fmt.Errorf("no listener came from the stub: %v", err)
		}
		return fds[0], nil
	}
}
