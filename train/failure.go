package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"nmn/loader"
	"nmn/ranks"
)

// Errors that a caller may act on.
var (
	// ErrInterrupted means that the context ended and the stage can be resumed.
	ErrInterrupted = errors.New("training was interrupted")
	// ErrNonFinite means that loss or gradient became infinite or NaN.
	ErrNonFinite = errors.New("loss or gradient is not finite")
)

// SaveInterrupted returns the error of a training that ended with err at a step. If ctx or the context of
// another rank has ended, it saves the state. The error then wraps ErrInterrupted and the cause of the ended
// context.
func SaveInterrupted(ctx context.Context, err error, epoch, step, steps int, save func() error) error {
	cause := interruption(ctx, err)
	if cause == nil {
		return err
	}
	err = fmt.Errorf("%w after step %d of %d (epoch %d): %w", ErrInterrupted, step, steps, epoch, cause)
	if saving := save(); saving != nil {
		return errors.Join(err, saving)
	}
	return err
}

// interruption returns the cause that ended the context of this training or of another rank, if err comes
// from it. Else it returns nil.
func interruption(ctx context.Context, err error) error {
	var lost *ranks.LostError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return context.Cause(ctx)
	case errors.As(err, &lost) && errors.Is(lost, context.Canceled):
		return lost
	}
	return nil
}

// NonFiniteError is the end of a stage that diverged, or met broken input. It wraps ErrNonFinite.
type NonFiniteError struct {
	Epoch, Step        int // of the update that was not made
	LearningRate       float64
	Loss, GradientNorm float64
	IDs                []string // bags of the step
	// Tensor names the tensor that was not finite if this was found when a checkpoint was written. The step
	// was already made then, and only the fields Epoch and Step are also set.
	Tensor string
}

// Error names the step, the learning rate and the first bags.
func (e *NonFiniteError) Error() string {
	if e.Tensor != "" {
		return fmt.Sprintf("training: after step %d (epoch %d) %s holds numbers that are not finite: %v; nothing was "+
			"saved, and the checkpoint before is untouched. Lower the learning rate, add warm-up or clip the norm",
			e.Step, e.Epoch, e.Tensor, ErrNonFinite)
	}
	return fmt.Sprintf("training: step %d (epoch %d), learning rate %.3g: loss %g, gradient norm %g: %v; nothing was "+
		"changed by this step. Lower the learning rate, add warm-up or clip the norm, or look at samples %s",
		e.Step, e.Epoch, e.LearningRate, e.Loss, e.GradientNorm, ErrNonFinite, listed(e.IDs))
}

// listed names the first bags of a step.
func listed(ids []string) string {
	const shown = 8
	text := strings.Join(ids[:min(shown, len(ids))], ", ")
	if more := len(ids) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Unwrap gives ErrNonFinite.
func (e *NonFiniteError) Unwrap() error { return ErrNonFinite }

// idsOf are the bags of a step.
func idsOf(batches []*loader.Batch) []string {
	var ids []string
	for _, b := range batches {
		ids = append(ids, b.IDs...)
	}
	return ids
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
