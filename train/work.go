package train

import (
	"fmt"

	"nmn/model"
)

// work is a piece of work that comes again in the same shape: the gradients of a batch, or an update.
type work struct {
	plan       *model.Plan // of the batch; nil for the update. A plan's memory never moves
	accumulate bool        // add the gradients to the gradients of the earlier batches
	last       bool        // of the step's batches: the norm of the gradients is computed too
	scores     bool        // no gradients: a pass forward alone
	weighted   bool        // the weights of bags multiply their losses

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
