package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"nmn/internal/expect"
)

func TestCaller_TheFolderOfOneThatDiedIsRemoved(t *testing.T) {
	folder := filepath.Join(t.TempDir(), scratchPrefix+"1")
	expect.OK(t, os.MkdirAll(filepath.Join(folder, "run"), 0o755))
	caller, life := io.Pipe()
	ctx, end := context.WithCancelCause(t.Context())
	leave := endWithCaller(end, folder, caller)
	if err := leave(); err != nil || ctx.Err() != nil {
		t.Fatalf("%v, %v while the caller lives", err, ctx.Err())
	}
	if _, err := os.Stat(folder); err != nil {
		t.Fatalf("the folder of a living caller: %v", err)
	}
	life.Close()
	<-ctx.Done()
	if code := exitCode(context.Cause(ctx)); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
	if err := leave(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the folder of a dead caller is left: %v", err)
	}
}

func TestCaller_NoOtherFolderIsRemoved(t *testing.T) {
	for _, folder := range []string{"", t.TempDir(), scratchPrefix + "relative"} {
		ctx, end := context.WithCancelCause(t.Context())
		in, life := io.Pipe()
		life.Close()
		leave := endWithCaller(end, folder, in)
		if err := leave(); err != nil || ctx.Err() != nil {
			t.Errorf("%q: %v, %v", folder, err, ctx.Err())
		}
		if filepath.IsAbs(folder) {
			if _, err := os.Stat(folder); err != nil {
				t.Error(err)
			}
		}
		end(nil)
	}
}
