//go:build cgo && mpi

package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// asRank is set in the processes that a test has mpirun start.
const asRank = "NMN_TEST_AS_RANK"

func TestMain(m *testing.M) {
	if os.Getenv(asRank) == "" {
		os.Exit(m.Run())
	}
	if err := beRank(); err != nil {
		fmt.Fprintln(os.Stderr, "WRONG", err)
		os.Exit(1)
	}
}

// beRank is what each of the processes does.
func beRank() error {
	place, _, err := Detect(os.Getenv)
	if err != nil {
		return err
	}
	g, err := Open(context.Background(), os.Getenv, Options{Timeout: time.Minute})
	if err != nil {
		return err
	}
	n, err := Processors(g)
	if err != nil {
		return err
	}
	if g.Local() != place.Local || g.LocalSize() != place.Size || n < 1 {
		return fmt.Errorf("%+v: rank %d of %d on its host, %d processors", place, g.Local(), g.LocalSize(), n)
	}
	fmt.Printf("<rank %d of %d>\n", g.Rank(), g.Size())
	return g.Close()
}

func TestOpen_JoinsWhatMpirunHasStarted(t *testing.T) {
	mpirun, err := exec.LookPath("mpirun")
	if err != nil {
		t.Skip("mpirun is not installed")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, mpirun, "--oversubscribe", "-n", "3", program)
	folder, err := os.MkdirTemp("", "mpi") // its own, for other tests have mpirun make and remove one at the same time
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	c.Env = append(os.Environ(), asRank+"=1", "TMPDIR="+folder, "OMPI_ALLOW_RUN_AS_ROOT=1",
		"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
	output, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	for _, want := range []string{"<rank 0 of 3>", "<rank 1 of 3>", "<rank 2 of 3>"} {
		if err != nil || !strings.Contains(string(output), want) {
			t.Fatalf("no %s: %v\n%s", want, err, output)
		}
	}
}
