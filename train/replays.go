package train

import (
	"errors"
	"fmt"

	"nmn/kernels"
	"nmn/model"
)

// maxGraphs is how many recorded pieces of work are kept; that which was not used for longest goes first.
const maxGraphs = 16

// work is a piece of work that comes again in the same shape: the gradients of a batch, or an update.
type work struct {
	plan       *model.Plan // of the batch; nil for the update. A plan's memory never moves
	accumulate bool        // the gradients join those of the batches before
	last       bool        // of the step's batches: the norm of the gradients is computed too
	scores     bool        // no gradients: a pass forward alone
}

// String names the work in the errors of its graph.
func (w work) String() string {
	if w.plan == nil {
		return "update"
	}
	what := "gradients"
	if w.scores {
		what = "scores"
	}
	return fmt.Sprintf("%s of %d frames in %d bags", what, w.plan.Frames, w.plan.Bags)
}

// replays do work: at once or, on a device that records, as one graph when it comes again. The first time
// it is done call by call, in which convolutions are chosen and workspaces grow; the second time it is
// recorded; from then on it is one call of the driver.
type replays struct {
	recorder kernels.Capturer // nil where nothing is recorded
	// direct leaves recorded work aside: set while the work differs from what was recorded.
	direct bool
	known  map[work]*replay
	clock  uint64 // counts what was done
}

// replay is work that was done before. graph is nil until it comes the second time.
type replay struct {
	graph kernels.Graph
	used  uint64
}

func newReplays(backend kernels.Backend) *replays {
	return &replays{recorder: recorderOf(backend), known: map[work]*replay{}}
}

// recorderOf is a backend that records, nil for one that does not.
func recorderOf(backend kernels.Backend) kernels.Capturer {
	if recorder, ok := backend.(kernels.Capturer); ok && recorder.Captures() {
		return recorder
	}
	return nil
}

// do enqueues work, which run enqueues call by call.
func (r *replays) do(w work, run func() error) error {
	if r.recorder == nil || r.direct {
		return run()
	}
	r.clock++
	p, ok := r.known[w]
	if !ok {
		if err := run(); err != nil {
			return err
		}
		r.known[w] = &replay{used: r.clock}
		return r.bound()
	}
	p.used = r.clock
	if p.graph == nil {
		var err error
		if p.graph, err = r.recorder.Capture(w.String(), run); err != nil {
			return fmt.Errorf("%w (`run.no_graphs` records nothing)", err)
		}
	}
	return p.graph.Launch()
}

// bound closes what was not used for longest where there is too much.
func (r *replays) bound() error {
	if len(r.known) <= maxGraphs {
		return nil
	}
	var oldest work
	used := r.clock + 1
	for w, p := range r.known {
		if p.used < used {
			oldest, used = w, p.used
		}
	}
	p := r.known[oldest]
	delete(r.known, oldest)
	return p.close()
}

func (p *replay) close() error {
	if p.graph == nil {
		return nil
	}
	return p.graph.Close()
}

// close frees all graphs.
func (r *replays) close() error {
	var errs []error
	for _, p := range r.known {
		errs = append(errs, p.close())
	}
	clear(r.known)
	return errors.Join(errs...)
}
