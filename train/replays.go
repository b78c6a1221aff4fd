package train

import (
	"fmt"

	"nmn/kernels"
	"nmn/model"
)

// maxGraphs is the number of recorded pieces of work to keep. The least recently used one is dropped first.
const maxGraphs = 16

// work is a piece of work that comes again in the same shape: the gradients of a batch, or an update.
type work struct {
	plan       *model.Plan // of the batch; nil for the update. A plan's memory never moves
	accumulate bool        // add the gradients to the gradients of the earlier batches
	last       bool        // of the step's batches: the norm of the gradients is computed too
	scores     bool        // no gradients: a pass forward alone

	// With several ranks the sums cut a step into pieces.
	all  int            // bags of the step, of all ranks; 0 on one
	part model.StepPart // of the gradients
	norm bool           // computes no gradients but their norm, after they are summed over all ranks
}

// String names the work in the errors of its graph.
func (w work) String() string {
	if w.norm {
		return "norm of the gradients"
	}
	if w.plan == nil {
		return "update"
	}
	what := [...]string{"gradients", "upper gradients", "lower gradients"}[w.part]
	if w.scores {
		what = "scores"
	}
	return fmt.Sprintf("%s of %d frames in %d samples", what, w.plan.Frames, w.plan.Bags)
}

// replays repeats recurring work (kernels.GraphCache), unless it differs from the recorded work.
type replays struct {
	*kernels.GraphCache[work]      // nil if no work recurs
	direct                    bool // recorded work is left aside for now
}

func newReplays(backend kernels.Backend) *replays {
	return &replays{GraphCache: kernels.NewGraphCache[work](backend, maxGraphs)}
}

// recorderOf is a backend that records, nil for one that does not.
func recorderOf(backend kernels.Backend) kernels.Card {
	if recorder, ok := backend.(kernels.Card); ok && recorder.Captures() {
		return recorder
	}
	return nil
}

// do enqueues work, which run enqueues call by call.
func (r *replays) do(w work, run func() error) error {
	if r.GraphCache == nil || r.direct {
		return run()
	}
	return r.Do(w, run)
}

// records reports whether work is recorded.
func (r *replays) records() bool { return r.GraphCache != nil && r.Records() }

// close frees all graphs.
func (r *replays) close() error {
	if r.GraphCache == nil {
		return nil
	}
	return r.Close()
}
