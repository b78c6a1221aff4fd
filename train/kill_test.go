package train

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	r.config.EvaluateSteps, r.config.KeepBest = 4, 1
	return r
}

// goOn resumes if there is a checkpoint, and runs to the end.
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
	t.Parallel()
	if directory := os.Getenv(killEnv); directory != "" {
		r := killable(directory)
		// A line fills a pipe, so that this process is at most two steps ahead of the one that kills it.
		r.observers = []Observer{{Step: func(StepDone) { fmt.Println(strings.Repeat(".", 1<<16)) }}}
		goOn(t, r)
		return
	}
	if testing.Short() {
		t.Skip("kills and restarts processes for seconds")
	}
	unbroken, directory := t.TempDir(), t.TempDir()
	goOn(t, killable(unbroken))
	const kills, mostSteps = 6, 7 // together with the two steps ahead fewer than all 60
	draw := rng.New(1)
	for n := range kills {
		command := exec.Command(os.Args[0], "-test.run=^TestKilledAtRandom")
		command.Env = append(os.Environ(), killEnv+"="+directory)
		out, err := command.StdoutPipe()
		check(t, err)
		check(t, command.Start())
		steps := bufio.NewReader(out)
		for range 1 + draw.Intn(mostSteps) {
			if _, err := steps.ReadString('\n'); err != nil {
				t.Fatalf("process %d has ended: %v, %v", n, err, command.Wait())
			}
		}
		time.Sleep(time.Duration(draw.Uniform(0, 20)) * time.Millisecond) // anywhere within a step
		check(t, command.Process.Kill())
		if err := command.Wait(); err == nil {
			t.Errorf("process %d has ended before it was killed", n)
		}
	}
	goOn(t, killable(directory))
	for _, name := range names(t, unbroken) {
		want, err := os.ReadFile(filepath.Join(unbroken, name))
		check(t, err)
		got, err := os.ReadFile(filepath.Join(directory, name))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s differs after %d kills: %d bytes, unbroken %d, %v", name, kills, len(got), len(want), err)
		}
	}
	if got, want := len(names(t, directory)), len(names(t, unbroken)); got != want {
		t.Errorf("files %q, unbroken %q", names(t, directory), names(t, unbroken))
	}
}
