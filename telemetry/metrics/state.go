package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// State is the current state of a process's run, or how it has ended.
type State string

// The states.
const (
	Starting    State = "starting"   // data are read, nothing has been trained
	Training    State = "training"   // steps are made
	Validating  State = "validating" // a validation, or the evaluation at the end of a training
	Finished    State = "finished"
	Failed      State = "failed"
	Interrupted State = "interrupted" // the progress has been saved
)

// States are all of them.
func States() []State {
	return []State{Starting, Training, Validating, Finished, Failed, Interrupted}
}

// states is a gauge for each state; one of them is 1. They have no label of the run. With such a label, a run
// that another one follows within the process would keep the last value of its series, and look as if it were
// still at work.
type states struct {
	mu     sync.Mutex
	gauges map[State]prometheus.Gauge
	now    State
}

func newStates(vector *prometheus.GaugeVec) *states {
	s := &states{gauges: map[State]prometheus.Gauge{}}
	for _, state := range States() {
		s.gauges[state] = vector.WithLabelValues(string(state))
	}
	s.enter(Starting)
	return s
}

// enter sets the gauge of a state, and then the gauge of the previous one to 0: a scrape between the two
// finds a state.
func (s *states) enter(state State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == s.now {
		return
	}
	s.gauges[state].Set(1)
	if s.now != "" {
		s.gauges[s.now].Set(0)
	}
	s.now = state
}
