//go:build linux && cgo && (mpi || mpich)

package mpi

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// mpirun is ended. Other programs that may have started nmn are not.
func TestEndLauncher(t *testing.T) {
	stdin := map[string]io.Closer{}
	start := func(name string) *exec.Cmd {
		t.Helper()
		script := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(script, []byte("#!/bin/sh\necho\nread line\nexit 3\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		c := exec.Command(script)
		in, inErr := c.StdinPipe()
		out, outErr := c.StdoutPipe()
		if err := errors.Join(inErr, outErr, c.Start()); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		stdin[name] = in
		return c
	}
	srun, mpirun := start("srun"), start("mpirun")
	endLauncher(srun.Process.Pid, 0)
	endLauncher(mpirun.Process.Pid, 10*time.Millisecond)
	_ = mpirun.Wait()
	if s := mpirun.ProcessState.Sys().(syscall.WaitStatus); s.Signal() != syscall.SIGTERM {
		t.Errorf("mpirun ended with %v", mpirun.ProcessState)
	}
	if err := stdin["srun"].Close(); err != nil {
		t.Error(err)
	}
	_ = srun.Wait()
	if code := srun.ProcessState.ExitCode(); code != 3 {
		t.Errorf("srun ended with %v", srun.ProcessState)
	}
}
