package telemetry

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

func TestServer_NotesScrapes(t *testing.T) {
	_, registry := training(t)
	server, err := Serve(t.Context(), "0", registry, well)
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range []bool{false, true} {
		get(t, "http://"+server.Address()+"/healthz")
		get(t, "http://"+server.Address()+"/metrics")
		if got := server.scrapes.expected(server.scrapes.last) > 0; got != want {
			t.Errorf("after %d scrapes another one is expected: %v, want %v", n+1, got, want)
		}
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
}

func TestServer_LingersForTheNextScrape(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &Server{scrapes: scrapes{next: make(chan struct{})}}
		scrape := func() {
			server.scrapes.count(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(nil, nil)
		}
		want := func(what string, most, want time.Duration) {
			t.Helper()
			began := time.Now()
			server.Linger(t.Context(), most)
			if d := time.Since(began); d != want {
				t.Errorf("%s: waits %v, want %v", what, d, want)
			}
		}
		want("nobody has scraped", time.Minute, 0)
		scrape()
		want("one scrape, which may be that of a person", time.Minute, 0)
		time.Sleep(10 * time.Second)
		scrape()
		want("no longer than it may", 5*time.Second, 5*time.Second)
		want("twice the time between scrapes and a second", time.Minute, 21*time.Second)
		want("who has scraped every ten seconds, and has not for 26", time.Minute, 0)
		scrape()
		time.AfterFunc(3*time.Second, scrape)
		want("a scrape comes", time.Minute, 3*time.Second)
	})
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
