package train

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"nmn/internal/expect"
)

// fullEnv names the environment variable that marks the test process whose files may not grow.
const fullEnv = "NMN_TEST_FILE_LIMIT"

// A limit on the size of files stands for a full disk. It applies to a whole process, so the test runs itself
// in another process.
func TestSave_DiskFullNamesFileAndNeedAndKeepsTheOldCheckpoint(t *testing.T) {
	if directory := os.Getenv(fullEnv); directory != "" {
		saveOnFullDisk(t, directory)
		return
	}
	directory := t.TempDir()
	r := short()
	r.directory = directory
	run(t, r.trainer(t))
	path := filepath.Join(directory, LastName)
	before, err := os.ReadFile(path)
	expect.OK(t, err)
	command := exec.Command(os.Args[0], "-test.run=^TestSave_DiskFull", "-test.v")
	command.Env = append(os.Environ(), fullEnv+"="+directory)
	output, err := command.CombinedOutput()
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skip("an emulator runs this program, and the system cannot start it again")
	}
	if err != nil || !strings.Contains(string(output), "error: ") {
		t.Fatalf("%v: %s", err, output)
	}
	for _, want := range []string{path, "bytes, and ulimit -f", "is untouched", syscall.EFBIG.Error()} {
		if !strings.Contains(string(output), want) {
			t.Errorf("%q is not in %s", want, output)
		}
	}
	after, err := os.ReadFile(path)
	if err != nil || string(after) != string(before) {
		t.Errorf("the checkpoint changed from %d to %d bytes, %v", len(before), len(after), err)
	}
	if got := names(t, directory); len(got) != 1 {
		t.Errorf("files %q, want the old checkpoint alone", got)
	}
}

func saveOnFullDisk(t *testing.T, directory string) {
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	check(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	limit := syscall.Rlimit{Cur: 1 << 14, Max: before.Max}
	expect.OK(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	// coverage writes further files
	defer func() { check(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)) }()
	synctest.Test(t, func(t *testing.T) { // its last attempts wait for room
		r := short()
		r.config.MaxSteps, r.directory = 5, directory
		trainer := r.trainer(t)
		check(t, trainer.Resume(filepath.Join(directory, LastName)))
		_, err := trainer.Run(t.Context())
		if err == nil {
			t.Fatal("saving went beyond the limit")
		}
		fmt.Println("error:", err)
	})
}
