package model

import (
	"errors"
	"testing"
)

// noTensors is a file without any.
type noTensors struct{ Source }

func (noTensors) Names() []string { return nil }

func TestMatchVGG16_SaysWhyAFileDoesNotFit(t *testing.T) {
	_, misfit, err := MatchVGG16(noTensors{})
	if err != nil || !errors.Is(misfit, ErrOtherModel) {
		t.Errorf("a file without tensors: %v, %v", misfit, err)
	}
}
