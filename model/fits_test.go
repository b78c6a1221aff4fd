package model

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	host "nmn/internal/memory"
	"nmn/tools/conform"
)

// A batch that no machine can hold is refused before memory is taken, and the error names the size that would
// fit.
func TestPlan_IsHeldAgainstTheMemoryOfTheHost(t *testing.T) {
	if _, known := host.Free(); !known || strconv.IntSize < 64 {
		t.Skip("this system does not report how much memory is free")
	}
	n := newNet(t, conform.OpenCPU(t, 1), small(FeatureDependent))
	const bags = 1 << 28 // of several terabytes
	_, err := n.Plan(bags, bags, true)
	if !errors.Is(err, host.ErrFull) || !strings.Contains(err.Error(), "samples with equally many frames would fit") {
		t.Fatal(err)
	}
	if _, err := n.Plan(2, 2, true); err != nil {
		t.Errorf("afterwards, a small batch: %v", err)
	}
}
