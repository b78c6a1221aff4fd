package telemetry

import (
	"testing"
	"time"
)

func TestServer_LingersForTheNextScrape(t *testing.T) {
	m, registry := training(t)
	server, err := Serve(t.Context(), "0", registry, well)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	}()
	url := "http://" + server.Address() + "/metrics"
	waited := func(most time.Duration) time.Duration {
		began := time.Now()
		server.Linger(t.Context(), most)
		return time.Since(began)
	}
	get(t, url)
	if d := waited(time.Minute); d > time.Second/2 {
		t.Errorf("after one scrape, which may be that of a person, it waits %v", d)
	}
	time.Sleep(20 * time.Millisecond)
	get(t, url)
	if d := waited(50 * time.Millisecond); d < 50*time.Millisecond || d > 10*time.Second {
		t.Errorf("waits %v, want the most that it may", d)
	}
	m.Enter(Finished)
	seen := make(chan string, 1)
	go func() {
		time.Sleep(50 * time.Millisecond)
		seen <- get(t, url)
	}()
	if d := waited(time.Minute); d < 50*time.Millisecond || d > 900*time.Millisecond {
		t.Errorf("waits %v for a scrape that comes after 50 ms", d)
	}
	<-seen
	server.scrapes.before = time.Now().Add(-time.Minute)
	server.scrapes.last = server.scrapes.before.Add(time.Second)
	if d := waited(time.Minute); d > time.Second/2 {
		t.Errorf("waits %v for one who has scraped every second, and has not for a minute", d)
	}
}

func TestMetrics_OneStateAtATime(t *testing.T) {
	m, registry := training(t)
	o := m.Observer()
	for _, c := range []struct {
		do   func()
		want State
	}{{func() {}, Training}, {func() { o.Scored(1) }, Validating}, {func() { o.Step(stepDone(9)) }, Training},
		{m.Rest, Validating}, {func() { m.Enter(Interrupted) }, Interrupted}} {
		c.do()
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if f.GetName() != "nmn_run_state" {
				continue
			}
			if len(f.Metric) != len(States()) {
				t.Errorf("%d states", len(f.Metric))
			}
			for _, s := range f.Metric {
				name, is := State(s.Label[0].GetValue()), s.Gauge.GetValue()
				if (name == c.want) != (is == 1) || is != 0 && is != 1 {
					t.Errorf("in state %s, %s is %v", c.want, name, is)
				}
			}
		}
	}
}
