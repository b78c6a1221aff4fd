package train

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"nmn/ranks"
)

// An interrupt of another rank ends a training with a checkpoint, as an interrupt of this rank does.
func TestInterrupted_ByAnotherRank(t *testing.T) {
	for _, c := range []struct {
		cause error
		saves bool
	}{{context.Canceled, true}, {errors.New("the disk is full"), false}} {
		saved := false
		lost := &ranks.LostError{Rank: 2, Name: "host 7", Cause: c.cause}
		err := SaveInterrupted(t.Context(), fmt.Errorf("cannot validate: %w", lost), 1, 3, 9, func() error {
			saved = true
			return nil
		})
		if saved != c.saves || errors.Is(err, ErrInterrupted) != c.saves || !errors.Is(err, c.cause) {
			t.Errorf("rank 2 ends by %v: saved is %t, the error %v", c.cause, saved, err)
		}
	}
}
