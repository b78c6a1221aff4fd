package kernels_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels"
	"nmn/kernels/update"
)

// tape is a backend that records: it notes which graphs are captured, launched and closed.
type tape struct {
	kernels.Backend
	kernels.Card // methods not listed below are not called
	log          []string
	fails        error
}

type strip struct {
	of   *tape
	name string
}

func (s strip) Launch() error { s.of.log = append(s.of.log, "launch "+s.name); return nil }
func (s strip) Close() error  { s.of.log = append(s.of.log, "close "+s.name); return nil }

func (b *tape) Captures() bool { return true }
func (b *tape) Capture(name string, work func() error) (kernels.Graph, error) {
	if b.fails != nil {
		return nil, b.fails
	}
	b.log = append(b.log, "capture "+name)
	return strip{b, name}, work()
}
func (b *tape) PrepareUpdate([]update.Entry, update.AdamParams) error { return nil }

type job string

func (j job) String() string { return string(j) }

func TestReplays_RunRecordReplayAndForgetTheOldest(t *testing.T) {
	b := &tape{}
	r := kernels.NewGraphCache[job](b, 2)
	do := func(j job) {
		t.Helper()
		if err := r.Do(j, func() error { b.log = append(b.log, "run "+string(j)); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	for _, j := range []job{"a", "a", "a", "b", "a", "c", "b"} { // c displaces b, and b then a
		do(j)
	}
	if err := r.Close(); err != nil || r.Graphs() != 0 {
		t.Errorf("%v, %d graphs left", err, r.Graphs())
	}
	want := []string{"run a", "capture a", "run a", "launch a", "launch a", "run b", "launch a", "run c", "run b",
		"close a"}
	if !slices.Equal(b.log, want) {
		t.Errorf("%v, want %v", b.log, want)
	}
}

func TestReplays_ReportWhatCannotBeRecordedWithTheCure(t *testing.T) {
	b := &tape{fails: errors.New("no graph")}
	r := kernels.NewGraphCache[job](b, 2)
	nothing := func() error { return nil }
	expect.OK(t, r.Do("a", nothing))
	if err := r.Do("a", nothing); !errors.Is(err, b.fails) || !strings.Contains(err.Error(), "run.no_graphs") {
		t.Errorf("%v", err)
	}
}

func TestReplays_OnAHostEverythingIsRun(t *testing.T) {
	r, ran := kernels.NewGraphCache[job](openCPU(t, 1, ""), 2), 0
	for range 3 {
		if err := r.Do("a", func() error { ran++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if ran != 3 || r.Records() || r.Graphs() != 0 {
		t.Errorf("run %d times, recording %v, %d graphs", ran, r.Records(), r.Graphs())
	}
}
