//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLaboratory_AnInterruptEndsChildren interrupts a test that has started a process of its own.
func TestLaboratory_AnInterruptEndsChildren(t *testing.T) {
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	binary := filepath.Join(dir, "till.test")
	script := "#!/bin/sh\nsleep 1000 &\necho $! >" + started + ".part\nmv " + started + ".part " + started + "\nwait\n"
	must(t, os.WriteFile(binary, []byte(script), 0o777))
	ctx, interrupt := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(started); err == nil {
				interrupt()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	l := &laboratory{dir: dir, module: dir, copied: dir}
	if _, err := l.run(ctx, &pkg{folder: "."}, binary); err == nil || t.Context().Err() != nil {
		t.Fatalf("error %v, want the interrupt's", err)
	}
	text, err := os.ReadFile(started)
	must(t, err)
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	must(t, err)
	// A killed process stays a zombie until init has taken its exit code.
	for !gone(child) {
		time.Sleep(time.Millisecond)
	}
	if _, err := os.Stat(binary + ".tmp"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the temporary folder is left: %v", err)
	}
}

func gone(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && strings.Contains(string(stat), ") Z ") || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
