package launch

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"nmn/ranks"
	"nmn/ranks/local"
	"nmn/ranks/mpi"
)

const secondOfThree = "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_LOCAL_RANK=1"

func never(mpi.Options) (ranks.Group, error) { panic("MPI is opened") }

func TestOpen_IsAloneWithoutOthers(t *testing.T) {
	for _, text := range []string{"", "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1"} {
		if g, err := open(t.Context(), environment(text), Options{}, never); err != nil || g != (ranks.Alone{}) {
			t.Errorf("%q: %v, %v", text, g, err)
		}
	}
}

func TestOpen_JoinsByMPI(t *testing.T) {
	joined := local.New(3, time.Second)
	g, err := open(t.Context(), environment(secondOfThree), Options{Timeout: time.Hour},
		func(o mpi.Options) (ranks.Group, error) {
			if o.Timeout != time.Hour {
				t.Errorf("a timeout of %v", o.Timeout)
			}
			return joined[1], nil
		})
	if err != nil || g != joined[1] {
		t.Errorf("%v, %v", g, err)
	}
}

func TestOpen_SaysWhatIsMissing(t *testing.T) {
	alone := func(mpi.Options) (ranks.Group, error) { return ranks.Alone{}, nil }
	missing := func(mpi.Options) (ranks.Group, error) { return nil, mpi.ErrMissing }
	for _, c := range []struct {
		environment string
		byMPI       opening
		want        []string
	}{
		{secondOfThree, missing, []string{"rank 1 of 3", "mpirun of Open MPI", "-tags mpi"}},
		{secondOfThree, alone, []string{"rank 1 of 3", "MPI reports rank 0 of 1", "--mpi=pmix"}},
		{"OMPI_COMM_WORLD_RANK=4 OMPI_COMM_WORLD_SIZE=3", never, []string{"OMPI_COMM_WORLD_RANK"}},
		{"RANK=1 WORLD_SIZE=4 MASTER_ADDR=a", never, []string{"rank 1 of 4", "PyTorchJob", "NCCL"}},
	} {
		_, err := open(t.Context(), environment(c.environment), Options{}, c.byMPI)
		var usage *UsageError
		if !errors.As(err, &usage) {
			t.Errorf("%s: %v", c.environment, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v lacks %q", c.environment, err, want)
			}
		}
	}
}

func TestOpen_LeavesTorchsRanksToNCCL(t *testing.T) {
	var at Place
	nccl := func(p Place) (ranks.Group, error) { at = p; return ranks.Alone{}, nil }
	_, err := open(t.Context(), environment("RANK=1 WORLD_SIZE=4 LOCAL_RANK=1 MASTER_ADDR=a"), Options{NCCL: nccl}, never)
	if err != nil || at.Rank != 1 || at.Size != 4 || at.Local != 1 {
		t.Errorf("%+v, %v", at, err)
	}
}

func TestOpen_WaitsForMPINoLongerThanItMay(t *testing.T) {
	hangs := func(mpi.Options) (ranks.Group, error) { select {} }
	_, err := open(t.Context(), environment(secondOfThree), Options{Timeout: 10 * time.Millisecond}, hangs)
	if !errors.Is(err, ranks.ErrTimeout) {
		t.Errorf("a timeout: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(ctx, environment(secondOfThree), Options{}, hangs); !errors.Is(err, context.Canceled) {
		t.Errorf("an interrupt: %v", err)
	}
}
