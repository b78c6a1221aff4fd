package train

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"nmn/format/safetensors"
	"nmn/internal/durable"
	"nmn/internal/expect"
)

// generations is a run that has saved after each of three epochs and was best after the second and the third.
func generations(t *testing.T) (rig, *Trainer) {
	t.Helper()
	r := newRig()
	r.validation, r.directory = true, filepath.Join(t.TempDir(), "it's a run")
	r.config.Stage1Epochs, r.config.EvaluateEpochs, r.config.CheckpointEpochs = 3, 1, 1
	trainer := r.trainer(t)
	run(t, trainer)
	return r, trainer
}

func TestSave_KeepsTheGenerationBeforeInAFileOfItsOwn(t *testing.T) {
	r, _ := generations(t)
	last, previous := filepath.Join(r.directory, LastName), filepath.Join(r.directory, PreviousName)
	for path, step := range map[string]int{last: 15, previous: 10} {
		isOfStep(t, path, step)
	}
	a, err := os.Stat(last)
	check(t, err)
	b, err := os.Stat(previous)
	check(t, err)
	if os.SameFile(a, b) {
		t.Error("both are names of one file")
	}
}

// damage changes a byte of a file, for all of its names. share gives the position as a fraction of its
// length.
func damage(t *testing.T, path string, share float64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	check(t, err)
	info, err := f.Stat()
	check(t, err)
	one, at := make([]byte, 1), int64(share*float64(info.Size()))
	_, err = f.ReadAt(one, at)
	check(t, err)
	one[0] ^= 0x20
	_, err = f.WriteAt(one, at)
	check(t, err)
	check(t, f.Close())
}

// The command in the error message works as printed.
func TestResume_DamagedCheckpointNamesTheWayOnAndItWorks(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("runs a POSIX shell")
	}
	shares := []float64{0, .001, .5, .99} // in the header and in tensors
	if testing.Short() {
		shares = shares[2:3]
	}
	for _, share := range shares {
		goOnFromPrevious(t, share)
	}
}

func goOnFromPrevious(t *testing.T, share float64) {
	t.Helper()
	r, unbroken := generations(t)
	last := filepath.Join(r.directory, LastName)
	damage(t, last, share)
	err := r.trainer(t).Resume(last)
	if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "of step 10") {
		t.Fatalf("error %v", err)
	}
	_, command, found := strings.Cut(err.Error(), "resume: ")
	if !found {
		t.Fatalf("no command in %v", err)
	}
	if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	trainer := r.trainer(t)
	check(t, trainer.Resume(last))
	if at := trainer.Position().Step; at != 10 {
		t.Errorf("resumed at step %d, want 10", at)
	}
	run(t, trainer)
	sameWeights(t, weights(t, trainer.Net), weights(t, unbroken.Net), "the net differs from the unbroken run")
	for _, name := range []string{LastName, BestName} {
		expect.OK(t, frame.with(filepath.Join(r.directory, name),
			func(_ *Checkpoint, file *safetensors.File) error { return whole(file) }))
	}
}

// If both the last and the previous checkpoint are damaged, the message describes how to start over. The new
// run gives the net of the unbroken run.
func TestResume_DamagedCheckpointWithoutOneBeforeIsBegunAnew(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("runs a POSIX shell")
	}
	for name, spoil := range map[string]func(previous string){
		"none before":     func(previous string) { check(t, os.Remove(previous)) },
		"both are broken": func(previous string) { damage(t, previous, .9) },
	} {
		r, unbroken := generations(t)
		last := filepath.Join(r.directory, LastName)
		damage(t, last, .5)
		spoil(filepath.Join(r.directory, PreviousName))
		err := r.trainer(t).Resume(last)
		if !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%s: %v", name, err)
		}
		_, command, found := strings.Cut(err.Error(), "To start over, remove it and resume: ")
		if !found {
			t.Fatalf("%s: no command in %v", name, err)
		}
		if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			t.Fatalf("%s: %s: %v: %s", name, command, err, out)
		}
		if durable.Exists(last) {
			t.Fatalf("%s: %s is still there", name, last)
		}
		trainer := r.trainer(t)
		run(t, trainer)
		sameWeights(t, weights(t, trainer.Net), weights(t, unbroken.Net), "%s: the net differs from the unbroken run", name)
		for path, step := range map[string]int{LastName: 15, PreviousName: 10} {
			isOfStep(t, filepath.Join(r.directory, path), step)
		}
	}
}

// A checkpoint of another run is not damaged, and one that is only read is not to be removed.
func TestResume_NamesNoWayThatDoesNotHelp(t *testing.T) {
	r, _ := generations(t)
	last, previous := filepath.Join(r.directory, LastName), filepath.Join(r.directory, PreviousName)
	other := r
	other.config.Seed++
	if err := other.trainer(t).Resume(last); !errors.Is(err, ErrOtherRun) || strings.Contains(err.Error(), "resume:") {
		t.Errorf("another run: %v", err)
	}
	damage(t, last, 0)
	damage(t, previous, 0)
	if _, err := ReadCheckpoint(last); !errors.Is(err, ErrCorrupt) || strings.Contains(err.Error(), "resume:") {
		t.Errorf("both are damaged: %v", err)
	}
}
