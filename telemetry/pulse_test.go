package telemetry

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"nmn/train"

	"github.com/prometheus/client_golang/prometheus"
)

func TestPulse_IsOfTheAgeOfTheLastStep(t *testing.T) {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	after := func(d time.Duration) time.Time { return began.Add(d) }
	var p pulse
	if err := p.stalled(after(100 * time.Hour)); err != nil {
		t.Errorf("before the first step, while data are read: %v", err)
	}
	p.beat(began)
	p.beat(after(time.Second))
	if err := p.stalled(after(time.Second + patience)); err != nil {
		t.Errorf("within %s of a step: %v", patience, err)
	}
	err := p.stalled(after(2*time.Second + patience))
	if err == nil || !strings.Contains(err.Error(), "has ended for 10m1s") {
		t.Errorf("a second later: %v", err)
	}
	p.beat(after(time.Hour))
	if err := p.stalled(after(time.Hour + slack*59*time.Minute)); err != nil {
		t.Errorf("a training of an hour a step is stalled after 59 minutes times %d: %v", slack, err)
	}
	if err := p.stalled(after((slack + 1) * time.Hour)); err == nil {
		t.Errorf("a training of an hour a step is healthy after %d hours without one", slack+1)
	}
	p.rest()
	if err := p.stalled(after(100 * time.Hour)); err != nil {
		t.Errorf("between two trainings: %v", err)
	}
}

// A server that answers says nothing about the goroutine that trains.
func TestHealthy_NoticesATrainingThatHangs(t *testing.T) {
	m, err := NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	m.now = func() time.Time { return now }
	server, err := Serve(t.Context(), "0", prometheus.NewRegistry(), m.Stalled)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	address := server.Address()
	check := func(when string, healthy bool) {
		t.Helper()
		if err := Healthy(t.Context(), address); (err == nil) != healthy ||
			!healthy && !strings.Contains(err.Error(), "no step and no part of a validation") {
			t.Errorf("%s: %v", when, err)
		}
	}
	o := m.Observer()
	check("before the first step", true)
	o.Step(train.StepDone{})
	now = now.Add(patience)
	check("soon after a step", true)
	now = now.Add(time.Second)
	check("long after a step", false)
	if response, err := http.Get("http://" + address + "/healthz"); err != nil {
		t.Error(err)
	} else if response.Body.Close(); response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("status %s for a training that hangs", response.Status)
	}
	o.Scored(8)
	check("within a validation", true)
	now = now.Add(slack * (patience + 2*time.Second))
	check("a validation that hangs", false)
	m.Rest()
	check("after the training", true)
}
