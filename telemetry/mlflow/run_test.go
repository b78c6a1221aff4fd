package mlflow

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRun_TellsAndGoesOnAsTheSame(t *testing.T) {
	f, server := newFake(t)
	dir, log := t.TempDir(), new(logged)
	o := quick(server.URL, dir, log)
	o.Access = Access{Username: "me", Password: "secret"}
	for n := range 250 {
		o.Params[fmt.Sprintf("a[%d]", n)] = strings.Repeat("ü", 400)
	}
	r := begin(t, o)
	r.Metrics(1, "train/loss", 2.5, "speed", math.NaN(), "best", math.Inf(1))
	r.Tags(map[string]string{"data": "sha"})
	r.End(Killed)
	if f.params["train.seed"] != "3" || len(f.params) != 251 || len(f.params["a_0_"]) > longestParam {
		t.Errorf("parameters: %d, %q", len(f.params), f.params["train.seed"])
	}
	if f.tags["mlflow.runName"] != "fd" || f.tags["nmn.arm"] != "nmn-fd" || f.tags["data"] != "sha" {
		t.Errorf("tags: %v", f.tags)
	}
	if len(f.metrics) != 1 || !slices.Equal(f.metrics["train/loss"], []float64{2.5}) {
		t.Errorf("metrics: %v", f.metrics)
	}
	if !strings.HasPrefix(f.auth, "Basic ") {
		t.Errorf("authorization: %q", f.auth)
	}
	o.Params["train.seed"], o.Access = "4", Access{Token: "t"} // a server takes a parameter once
	if err := os.WriteFile(filepath.Join(dir, "report.html"), []byte("<p>"), 0o666); err != nil {
		t.Fatal(err)
	}
	r = begin(t, o)
	r.Metrics(2, "train/loss", 2.)
	r.File("report.html")
	r.End(Finished)
	if len(f.created) != 1 || !slices.Equal(f.status, []Status{Running, Killed, Running, Finished}) {
		t.Errorf("runs %q, states %q", f.created, f.status)
	}
	if !slices.Equal(f.metrics["train/loss"], []float64{2.5, 2}) || f.files["7/run1/artifacts/report.html"] != "<p>" {
		t.Errorf("metrics: %v, files: %v", f.metrics, f.files)
	}
	if !slices.Equal(f.steps["train/loss"], []int64{1, 2}) {
		t.Errorf("steps of the loss: %v", f.steps["train/loss"])
	}
	if f.auth != "Bearer t" || log.String() != "" {
		t.Errorf("authorization %q, log: %s", f.auth, log)
	}
	content, err := os.ReadFile(filepath.Join(dir, StateFile))
	if err != nil || strings.Contains(string(content), "secret") {
		t.Errorf("%s: %s, %v", StateFile, content, err)
	}
}

// Whatever the server does, nothing is lost, nothing waits, and it is told once.
func TestRun_OutlivesAServerThatFails(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"500": func(w http.ResponseWriter, _ *http.Request) bool { http.Error(w, "full", 500); return true },
		"503 JSON": func(w http.ResponseWriter, _ *http.Request) bool {
			http.Error(w, `{"error_code":"X"}`, 503)
			return true
		},
		"401":      func(w http.ResponseWriter, _ *http.Request) bool { http.Error(w, "who?", 401); return true },
		"404 page": func(w http.ResponseWriter, r *http.Request) bool { http.NotFound(w, r); return true },
		"not JSON": func(w http.ResponseWriter, _ *http.Request) bool { fmt.Fprint(w, "<html>"); return true },
		"other": func(w http.ResponseWriter, r *http.Request) bool {
			fmt.Fprint(w, "[]")
			return true
		},
		"redirects": func(w http.ResponseWriter, r *http.Request) bool { http.Redirect(w, r, "/login", 302); return true },
		"hangs up":  func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			f, server := newFake(t)
			f.failing(answer)
			dir, log := t.TempDir(), new(logged)
			r := begin(t, quick(server.URL, dir, log))
			f.mu.Lock() // until all is told the server answers nothing, and nobody waits for it
			for step := range 20 {
				r.Metrics(step, "loss", float64(step))
			}
			f.mu.Unlock()
			waitFor(t, "spool", func() bool { return !r.spool.empty() })
			f.failing(nil)
			waitFor(t, "metric", f.has(func() bool { return len(f.metrics["loss"]) == 20 }))
			f.failing(answer)
			r.Metrics(20, "loss", 20.)
			r.End(Failed)
			f.failing(nil)
			if err := Resend(quick(server.URL, dir, log)); err != nil {
				t.Fatal(err)
			}
			for step, v := range f.metrics["loss"] {
				if v != float64(step) {
					t.Errorf("the metric of step %d is %v", step, v)
				}
			}
			if len(f.metrics["loss"]) != 21 || f.status[len(f.status)-1] != Failed || len(f.created) != 1 {
				t.Errorf("%d metrics, states %q, runs %q", len(f.metrics["loss"]), f.status, f.created)
			}
			if n := strings.Count(log.String(), "level=WARN"); n < 1 || n > 2 { // before and after it answered
				t.Errorf("%d warnings: %s", n, log)
			}
			if !(spool{filepath.Join(dir, SpoolFile)}).empty() {
				t.Error("what was sent is kept")
			}
		})
	}
}

// An answer that is lost after the server has made the run makes no second one.
func TestRun_IsMadeOnce(t *testing.T) {
	f, server := newFake(t)
	lost := false
	f.failing(func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "runs/create") && !lost {
			lost = true
			recorder := httptest.NewRecorder()
			f.answer = nil
			f.mu.Unlock()
			f.ServeHTTP(recorder, r)
			f.mu.Lock()
			http.Error(w, "timeout", http.StatusGatewayTimeout)
			return true
		}
		return false
	})
	r := begin(t, quick(server.URL, t.TempDir(), new(logged)))
	r.End(Finished)
	if len(f.created) != 1 || !lost || f.status[len(f.status)-1] != Finished {
		t.Errorf("runs %q, states %q", f.created, f.status)
	}
}

// A server that takes nothing in for long costs the end of a run seconds, not more.
func TestRun_EndsBesideAServerThatHangs(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	defer server.Close()
	defer close(hang)
	o := quick(server.URL, t.TempDir(), new(logged))
	o.patience.end = 50 * time.Millisecond
	r := begin(t, o)
	for step := range 2 * mostQueued {
		r.Metrics(step, "loss", 1.)
	}
	r.End(Finished) // before the server answers or the request has waited its time
	entries, err := r.spool.take()
	if err != nil || len(entries) < mostQueued/mostMetrics || entries[len(entries)-1].Status != Finished {
		t.Errorf("%d entries wait, %v", len(entries), err)
	}
}

func TestRun_LeavesOutWhatTheServerRefuses(t *testing.T) {
	f, server := newFake(t)
	log := new(logged)
	o := quick(server.URL, t.TempDir(), log)
	r := begin(t, o)
	waitFor(t, "run", f.has(func() bool { return len(f.status) > 0 }))
	f.failing(func(w http.ResponseWriter, r *http.Request) bool {
		refused := strings.HasSuffix(r.URL.Path, "log-batch")
		if refused {
			f.refuse(w, "INVALID_PARAMETER_VALUE", strings.Repeat("no ", 1000))
		}
		return refused
	})
	r.Metrics(1, "loss", 1.)
	r.File("gone.html")
	r.End(Finished)
	if f.status[len(f.status)-1] != Finished || strings.Count(log.String(), "level=WARN") != 1 || len(log.String()) > 1000 {
		t.Errorf("states %q, log: %s", f.status, log)
	}
}

func TestRun_MetricsComeInBatchesAndPartsNameTheirWhole(t *testing.T) {
	f, server := newFake(t)
	whole := begin(t, quick(server.URL, t.TempDir(), new(logged)))
	o := quick(server.URL, t.TempDir(), new(logged))
	o.Parent, o.patience.gather = whole, time.Hour
	waitFor(t, "run", func() bool { return whole.id() != "" })
	part := begin(t, o)
	for step := range 500 {
		part.Metrics(step, "a", 1., "b", 2., "c", 3.)
	}
	part.End(Finished)
	whole.End(Finished)
	if len(f.metrics["c"]) != 500 || f.batches > 3 || f.biggest < 900 {
		t.Errorf("%d metrics in %d requests of up to %d", len(f.metrics["c"]), f.batches, f.biggest)
	}
	if f.tags["mlflow.parentRunId"] != "run1" || len(f.created) != 2 {
		t.Errorf("tags %v, runs %q", f.tags, f.created)
	}
}

func TestBegin_AnotherServerIsAnotherRun(t *testing.T) {
	a, first := newFake(t)
	b, second := newFake(t)
	dir := t.TempDir()
	begin(t, quick(first.URL, dir, new(logged))).End(Killed)
	begin(t, quick(second.URL, dir, new(logged))).End(Finished)
	if len(a.created) != 1 || len(b.created) != 1 || a.created[0] == b.created[0] {
		t.Errorf("runs %q and %q", a.created, b.created)
	}
	if err := os.WriteFile(filepath.Join(dir, StateFile), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Begin(quick(first.URL, dir, new(logged))); err == nil || !strings.Contains(err.Error(), StateFile) {
		t.Errorf("a broken %s: %v", StateFile, err)
	}
}

func TestParseURL(t *testing.T) {
	server, access, err := ParseURL("https://me:secret@host/prefix/")
	if server != "https://host/prefix" || access != (Access{Username: "me", Password: "secret"}) || err != nil {
		t.Errorf("%q, %v, %v", server, access, err)
	}
	for _, bad := range []string{"", "host:5000", "sqlite:///secret.db", "databricks", "http://", "http://h:x/secret",
		"http://h/?key=secret", "http://h/#secret", "http://u:secret@h:x"} {
		if _, _, err := ParseURL(bad); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestSpool_LeavesOutALineThatWasCut(t *testing.T) {
	s := spool{filepath.Join(t.TempDir(), SpoolFile)}
	if !s.add(entry{Metrics: at(1, "loss", 2.)}, entry{Status: Failed}) {
		t.Fatal("no room")
	}
	content, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.path, append(content, content[:20]...), 0o666); err != nil {
		t.Fatal(err)
	}
	entries, err := s.take()
	if err != nil || len(entries) != 2 || entries[0].Metrics[0].Step != 1 || entries[1].Status != Failed {
		t.Errorf("%+v, %v", entries, err)
	}
}

func FuzzSpool(f *testing.F) {
	f.Add([]byte(`{"metrics":[{"key":"a","value":1,"timestamp":2,"step":3}]}` + "\n" + `{"status":"FAILED","ended":1}` + "\n"))
	f.Add([]byte("\x00{\n\n{}"))
	f.Fuzz(func(t *testing.T, content []byte) {
		s := spool{filepath.Join(t.TempDir(), SpoolFile)}
		if err := os.WriteFile(s.path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		entries, err := s.take()
		if err != nil || len(entries) == 0 {
			return
		}
		if err := s.keep(entries); err != nil {
			t.Fatal(err)
		}
		again, err := s.take()
		if err != nil || len(again) != len(entries) {
			t.Fatalf("%d entries became %d, %v", len(entries), len(again), err)
		}
	})
}
