//go:build cuda && emulate

package main

import (
	"os"
	"strings"
	"testing"

	"nmn/cuda"
	"nmn/tools/emulator"
)

// A card that fails in the midst of a run: the command ends with the code of failures and a message that
// names step, bags and launch, and the run goes on from its checkpoint when the card is well again.
func TestCUDA_FailingCardEndsTheRunAndItResumes(t *testing.T) {
	library := os.Getenv(cuda.DriverVariable)
	if !strings.Contains(library, "emulator") {
		t.Skip("needs the emulator: make emulate")
	}
	dir, cache := t.TempDir(), t.TempDir()
	t.Setenv(emulator.FailVariable, "kernel 200 719") // CUDA_ERROR_LAUNCH_FAILED
	failed := on(t, library, library, cache, tiny("train", "--device", "cuda", "--precision", "fp32", "--arm", "stage1",
		"--epochs", "4", "--set", "train.checkpoint_steps=2", "--set", "train.evaluate_epochs=0", "--run-dir", dir)...)
	if failed.code != exitFailure {
		t.Fatalf("exit code %d, want %d: %s", failed.code, exitFailure, failed.err)
	}
	for _, said := range []string{"nmn: ", "training: step ", "pictures ", "a kernel has failed", "graph gradients of "} {
		if !strings.Contains(lastLine(failed.err), said) {
			t.Errorf("message %q, want %q in it", lastLine(failed.err), said)
		}
	}
	t.Setenv(emulator.FailVariable, "")
	if resumed := on(t, library, library, cache, goOn(dir, "--quiet")...); resumed.code != exitOK {
		t.Errorf("resume: exit code %d: %s", resumed.code, resumed.err)
	}
}
