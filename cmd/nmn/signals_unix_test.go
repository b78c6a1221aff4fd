//go:build !windows

package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"nmn/internal/expect"
	"nmn/train"
)

// endless is the command line of a training that ends by what happens to its process alone.
func endless(dir string, more ...string) []string {
	return append(tiny("train", "--run-dir", dir, "--arm", "stage1", "--epochs", "100000",
		"--set", "train.evaluate_epochs=0", "--set", "train.checkpoint_epochs=0", "--set", "train.log_steps=1"), more...)
}

// wantSaved checks that a process has ended with a code, and that it has left a checkpoint.
func wantSaved(t *testing.T, cmd *exec.Cmd, dir string, code int) {
	t.Helper()
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("ended with %v, want exit code %d", cmd.ProcessState, code)
	}
	if _, err := train.ReadCheckpoint(filepath.Join(dir, train.LastName)); err != nil {
		t.Errorf("nothing was saved: %v", err)
	}
}

// A terminal that closes sends several hangups, and two schedulers may warn by SIGUSR1.
func TestTrain_SignalsSaveAndExit130(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string][]os.Signal{
		"interrupt":             {os.Interrupt},
		"hangup":                {syscall.SIGHUP, syscall.SIGHUP, syscall.SIGHUP},
		"user defined signal 1": {syscall.SIGUSR1, syscall.SIGUSR1},
	} {
		if sent[0] == syscall.SIGHUP && signal.Ignored(syscall.SIGHUP) {
			continue // and so in every process that this one starts
		}
		dir := filepath.Join(t.TempDir(), "run")
		cmd, _, stderr := asCommand(endless(dir, "--quiet")...)
		p := start(t, cmd)
		p.until("a step", func() bool { return logged(dir) > 0 })
		for _, s := range sent {
			_ = cmd.Process.Signal(s) // fails if the process has ended by now
		}
		_ = p.wait()
		wantSaved(t, cmd, dir, exitInterrupted)
		wantParts(t, stderr.String(), name, "run the same command again to continue")
	}
}

func TestTrain_GoesOnWhereHangupsAreIgnoredAsNohupDoes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	nmn, _, _ := asCommand(endless(dir, "--quiet")...)
	cmd := exec.Command("sh", append([]string{"-c", `trap "" HUP; exec "$@"`, "sh"}, nmn.Args...)...)
	cmd.Env = nmn.Env
	p := start(t, cmd)
	p.until("a step", func() bool { return logged(dir) > 0 })
	expect.OK(t, cmd.Process.Signal(syscall.SIGHUP))
	before := logged(dir)
	p.until("20 steps more", func() bool { return logged(dir) >= before+20 })
	expect.OK(t, cmd.Process.Signal(syscall.SIGTERM))
	_ = p.wait()
	wantSaved(t, cmd, dir, exitInterrupted)
}

// nmn train 2>&1 | head -1
func TestTrain_SavesAndExits130WhenNobodyReadsItsOutput(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cmd, _, _ := asCommand(endless(dir)...)
	cmd.Stderr = nil
	stderr, err := cmd.StderrPipe()
	expect.OK(t, err)
	expect.OK(t, cmd.Start())
	line, err := bufio.NewReader(stderr).ReadString('\n')
	expect.OK(t, err)
	expect.OK(t, stderr.Close())
	_ = cmd.Wait()
	wantSaved(t, cmd, dir, exitInterrupted)
	if line == "" {
		t.Error("there was no line to read")
	}
}

// nmn train --print-config | head -0
func TestPrinting_EndsWithoutAWordWhenNobodyReads(t *testing.T) {
	reader, writer, err := os.Pipe()
	expect.OK(t, err)
	expect.OK(t, reader.Close())
	cmd, _, stderr := asCommand("config")
	cmd.Stdout = writer
	_ = cmd.Run()
	expect.OK(t, writer.Close())
	if code := cmd.ProcessState.ExitCode(); code != exitUnread || stderr.String() != "" {
		t.Errorf("ended with %v and says %q, want exit code %d and nothing", cmd.ProcessState, stderr, exitUnread)
	}
}

// A step of a large net takes minutes, and the user learns why nothing happens.
func TestOnSlowEnd_SaysSoOnceTheProgramIsToEnd(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	said := make(chan struct{})
	onSlowEnd(ctx, 0, func() {
		if ctx.Err() == nil {
			t.Error("the program was not asked to end")
		}
		close(said)
	})
	end()
	<-said
}
