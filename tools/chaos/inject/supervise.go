//go:build linux && (amd64 || arm64)

package inject

import (
	"os"
	"runtime"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// notification is struct seccomp_notif.
type notification struct {
	id     uint64
	pid    uint32 // of the thread
	flags  uint32
	number int32
	arch   uint32
	ip     uint64
	args   [6]uint64
}

// response is struct seccomp_notif_resp.
type response struct {
	id    uint64
	value int64
	errno int32 // negative
	flags uint32
}

// supervise starts the command, reports that, and answers the kernel until no filtered process is left. It
// keeps its thread, because its calls may wait long.
func (p *Process) supervise(ours, theirs *os.File, started chan<- error) {
	defer close(p.done)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.Cmd.Start()
	theirs.Close()
	if err != nil {
		started <- err
		return
	}
	p.listener, err = receive(int(ours.Fd()))
	if err != nil {
		_ = p.Cmd.Process.Kill()
		_ = p.Cmd.Wait()
		started <- err
		return
	}
	defer unix.Close(p.listener)
	started <- nil
	p.err = p.answerAll()
}

// answerAll answers until the filter is on no process any more.
func (p *Process) answerAll() error {
	for {
		fds := []unix.PollFd{{Fd: int32(p.listener), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case fds[0].Revents&unix.POLLIN == 0:
			return nil // POLLHUP
		}
		var n notification
		switch errno := control(p.listener, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); errno {
		case 0:
			if err := p.answer(&n); err != nil {
				return err
			}
		case unix.EINTR, unix.ENOENT: // the call is gone, for its process is
		default:
			return os.NewSyscallError("ioctl", errno)
		}
	}
}

func (p *Process) answer(n *notification) error {
	r := response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	if call, ok := p.call(n); ok && p.valid(n) {
		call.N = int(p.calls.Add(1))
		if p.options.Judge != nil {
			var killed bool
			if r, killed = p.carryOut(n, call, p.options.Judge(call)); killed {
				return nil
			}
		}
	}
	if errno := control(p.listener, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r)); errno != 0 &&
		errno != unix.ENOENT {
		return os.NewSyscallError("ioctl", errno)
	}
	return nil
}

// carryOut applies a verdict, and makes the answer to the call. A program that was killed gets none.
func (p *Process) carryOut(n *notification, call Call, v Verdict) (r response, killed bool) {
	r = response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	time.Sleep(v.Delay)
	for _, s := range v.Signals {
		_ = p.Signal(s)
	}
	if v.Half && call.Writes() && call.Size > 1 {
		if written, err := writeHalf(n); err == nil {
			r = response{id: n.id, value: int64(written)}
		}
	}
	if v.Kill {
		_ = p.Signal(unix.SIGKILL)
		// A child of the program that made the call lives on.
		return r, tgid(int(n.pid)) == p.Cmd.Process.Pid
	}
	if v.Errno != 0 {
		r = response{id: n.id, errno: -int32(v.Errno)}
	}
	return r, false
}

// valid reports whether the call still waits for its answer. If not, the memory read may belong to another
// process.
func (p *Process) valid(n *notification) bool {
	return control(p.listener, unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&n.id)) == 0
}

// call describes a call. ok is false if its file is not below the watched folder.
func (p *Process) call(n *notification) (c Call, ok bool) {
	place, known := filtered[n.number]
	if !known {
		return c, false
	}
	path, err := pathOf(n, place)
	if err != nil {
		return c, false
	}
	below, ok := p.below(path)
	if !ok {
		return c, false
	}
	c = Call{Name: place.name, Path: below}
	if c.Writes() {
		c.Size = int(n.args[2])
	}
	if c.Names() {
		old, _ := pathOf(n, where{file: -1, dir: 0})
		c.Old, _ = p.below(old)
	}
	return c, true
}

// below is a path below the watched folder.
func (p *Process) below(path string) (below string, ok bool) {
	if path == p.options.Watch {
		return ".", true
	}
	return strings.CutPrefix(path, p.options.Watch+"/")
}

// control is ioctl with a pointer. Unlike the standard library's, it may wait long without harm, since it has
// its own thread.
func control(fd int, request uint, argument unsafe.Pointer) unix.Errno {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), uintptr(request), uintptr(argument))
	return errno
}
