package train

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"nmn/internal/rng"
	"nmn/model"
)

// killEnv names the environment variable that marks the test process to be killed and holds its folder.
const killEnv = "NMN_TEST_KILL"

// killable saves and validates often, so that most moments are in the middle of some writing.
func killable(directory string) rig {
	r := newRig()
	r.noise, r.dropout, r.directory, r.validation = model.FeatureDependent, .3, directory, true
	r.config.Flip, r.config.Stage1Epochs, r.config.CheckpointSteps = true, 12, 1
	r.config.EvaluateSteps, r.config.KeepBest = 4, 3
	return r
}

// goOn resumes where there is a checkpoint and runs to the end.
func goOn(t *testing.T, r rig) {
	t.Helper()
	trainer := r.trainer(t)
	err := trainer.Resume(filepath.Join(r.directory, LastName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	run(t, trainer)
}

func TestKilledAtRandomAndResumed_FilesEqualTheUnbrokenOnes(t *testing.T) {
	if directory := os.Getenv(killEnv); directory != "" {
		goOn(t, killable(directory))
		return
	}
	if testing.Short() {
		t.Skip("kills and restarts processes for seconds")
	}
	unbroken, directory := t.TempDir(), t.TempDir()
	goOn(t, killable(unbroken))
	seed, killed := uint64(time.Now().UnixNano()), 0
	t.Logf("moments of the kills drawn from seed %d", seed)
	draw := rng.New(seed)
	for range 6 {
		command := exec.Command(os.Args[0], "-test.run=^TestKilledAtRandom")
		command.Env = append(os.Environ(), killEnv+"="+directory)
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(draw.Uniform(20, 400)) * time.Millisecond)
		check(t, command.Process.Kill())
		if err := command.Wait(); err != nil {
			killed++
		}
	}
	goOn(t, killable(directory))
	if killed == 0 {
		t.Log("no process was killed before it ended")
	}
	for _, name := range names(t, unbroken) {
		want, err := os.ReadFile(filepath.Join(unbroken, name))
		check(t, err)
		got, err := os.ReadFile(filepath.Join(directory, name))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s differs after %d kills: %d bytes, unbroken %d, %v", name, killed, len(got), len(want), err)
		}
	}
	if got, want := len(names(t, directory)), len(names(t, unbroken)); got != want {
		t.Errorf("files %q, unbroken %q", names(t, directory), names(t, unbroken))
	}
}
