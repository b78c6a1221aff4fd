//go:build linux && (amd64 || arm64)

package inject

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Options select the watched folder and decide on its calls.
type Options struct {
	// Watch is the folder below which calls are counted and judged, an absolute path without symbolic links.
	Watch string
	// Judge is asked about each call, one at a time. nil lets all pass.
	Judge func(Call) Verdict
	// Leave is how long after the program its children may end; 0 is 5 s.
	Leave time.Duration
}

// Process is a program that runs under supervision.
type Process struct {
	Cmd      *exec.Cmd
	options  Options
	listener int
	calls    atomic.Int64
	done     chan struct{} // closed when the supervisor has ended
	err      error         // of the supervisor
}

// Start starts a command under supervision. The command's path, arguments, folder, environment and files are
// as without supervision. It has its own process group. It must have no ExtraFiles.
func Start(cmd *exec.Cmd, o Options) (*Process, error) {
	if len(cmd.ExtraFiles) > 0 {
		return nil, errors.New("inject: the command has extra files")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(cmd.Path)
	if err != nil {
		return nil, err
	}
	ours, theirs, err := pair()
	if err != nil {
		return nil, err
	}
	defer ours.Close()
	cmd.Args = append([]string{stubName, path}, cmd.Args[1:]...)
	cmd.Path = self
	cmd.ExtraFiles = []*os.File{theirs}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &unix.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
	p := &Process{Cmd: cmd, options: o, done: make(chan struct{})}
	started := make(chan error)
	go p.supervise(ours, theirs, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("inject: %w", err)
	}
	return p, nil
}

// ErrOrphans means that processes started by the program remain after its end.
var ErrOrphans = errors.New("processes are left that the program has started")

// Wait waits for the end of the program. Its error is the command's, or, earlier, ErrOrphans or an error of
// the supervision. The calls of orphans are answered until they end.
func (p *Process) Wait() error {
	err := p.Cmd.Wait()
	select {
	case <-p.done:
	case <-time.After(cmp.Or(p.options.Leave, 5*time.Second)):
		return ErrOrphans
	}
	if p.err != nil {
		return fmt.Errorf("inject: %w", p.err)
	}
	return err
}

// Calls is the number of calls below the watched folder so far. It is final after Wait, unless that returns
// ErrOrphans.
func (p *Process) Calls() int { return int(p.calls.Load()) }

// Signal sends a signal to the program.
func (p *Process) Signal(s unix.Signal) error { return unix.Kill(p.Cmd.Process.Pid, s) }
