package launch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nmn/ranks"
	"nmn/ranks/mpi"
)

// DefaultTimeout is how long ranks wait for one another before they give one up.
const DefaultTimeout = 10 * time.Minute

// ErrNoMPI is wrapped where PyTorch's launcher has started this process and Options.NCCL is nil: there is no MPI.
var ErrNoMPI = errors.New("ranks that PyTorch's launcher has started are joined by NCCL alone, on CUDA devices; " +
	"start nmn by mpirun or srun, which join ranks on CPUs too")

// A UsageError is about how this process was built or started; nothing in it went wrong.
type UsageError struct{ Cause error }

func (e *UsageError) Error() string { return e.Cause.Error() }
func (e *UsageError) Unwrap() error { return e.Cause }

// Options of a group.
type Options struct {
	// Timeout is how long a call waits for a rank before it ends the job; 0 waits for ever.
	Timeout time.Duration
	// NCCL joins ranks without MPI, where PyTorch's launcher has started them. Nil refuses them.
	NCCL func(Place) (ranks.Group, error)
}

// opening joins ranks by MPI.
type opening func(mpi.Options) (ranks.Group, error)

// Open joins the ranks that were started together, as the environment describes. A process that was started
// alone is a group of its own. A *UsageError explains what to build or start instead.
func Open(ctx context.Context, getenv func(string) string, o Options) (ranks.Group, error) {
	return open(ctx, getenv, o, mpi.Open)
}

func open(ctx context.Context, getenv func(string) string, o Options, byMPI opening) (ranks.Group, error) {
	place, found, err := Detect(getenv)
	switch {
	case err != nil:
		return nil, &UsageError{err}
	case !found, place.Size == 1:
		return ranks.Alone{}, nil
	case place.Torch && o.NCCL != nil:
		return o.NCCL(place)
	case place.Torch:
		return nil, place.usage(ErrNoMPI)
	}
	g, err := openWithin(ctx, o, byMPI)
	switch {
	case errors.Is(err, mpi.ErrMissing):
		return nil, place.usage(err)
	case err != nil:
		return nil, fmt.Errorf("rank %d of %d, started by %s: %w", place.Rank, place.Size, place.By, err)
	case g.Size() != place.Size || g.Rank() != place.Rank:
		err := place.usage(fmt.Errorf("MPI reports rank %d of %d: this program is linked with another MPI than the one that "+
			"has started it, or SLURM's srun needs --mpi=pmix or --mpi=pmi2", g.Rank(), g.Size()))
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// usage returns an error with the place of this process, followed by cause.
func (p Place) usage(cause error) error {
	return &UsageError{fmt.Errorf("this is rank %d of %d, started by %s: %w", p.Rank, p.Size, p.By, cause)}
}

// openWithin opens MPI and waits for it until ctx ends: MPI itself waits for ever for a rank that does not come.
func openWithin(ctx context.Context, o Options, byMPI opening) (ranks.Group, error) {
	type opened struct {
		g   ranks.Group
		err error
	}
	if o.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("%w: not all ranks have opened MPI in %v",
			ranks.ErrTimeout, o.Timeout))
		defer cancel()
	}
	done := make(chan opened, 1)
	go func() {
		g, err := byMPI(mpi.Options{Timeout: o.Timeout})
		done <- opened{g, err}
	}()
	select {
	case o := <-done:
		return o.g, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
