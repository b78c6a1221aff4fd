//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// memoryLimit is the address space of a test of a mutant, in KiB: a loop that no longer ends may ask for memory in
// every turn, and must not take the machine's.
const memoryLimit = 12 << 20

// limited makes the command line of a program with a limit on its memory, if the shell can set one.
func limited(program string, args []string) (string, []string) {
	script := fmt.Sprintf(`ulimit -v %d 2>/dev/null; exec "$0" "$@"`, memoryLimit)
	return "/bin/sh", append([]string{"-c", script, program}, args...)
}

// inGroup puts a command and all that it starts into one group of processes, which ends with the command's context.
func inGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return endGroup(c) }
}

// endGroup ends the remaining processes of a command's group.
func endGroup(c *exec.Cmd) error {
	err := syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}
