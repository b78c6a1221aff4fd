package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// stateIn reads the state of a run from what was pushed.
func stateIn(t *testing.T, pushed []byte) string {
	t.Helper()
	decoder := expfmt.NewDecoder(bytes.NewReader(pushed), expfmt.NewFormat(expfmt.TypeProtoDelim))
	for {
		var f dto.MetricFamily
		if err := decoder.Decode(&f); err != nil {
			t.Fatalf("no state is pushed: %v", err)
		}
		for _, m := range f.Metric {
			if f.GetName() == "nmn_run_state" && m.Gauge.GetValue() == 1 {
				return m.Label[0].GetValue()
			}
		}
	}
}

// gateway is a Pushgateway that keeps what was pushed by path, user and password. A push that was given up may arrive
// after the last one.
type gateway struct {
	*httptest.Server
	mutex  sync.Mutex
	pushed map[string][][]byte
}

func newGateway(t *testing.T) *gateway {
	t.Helper()
	g := &gateway{pushed: map[string][][]byte{}}
	g.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		g.mutex.Lock()
		defer g.mutex.Unlock()
		from := strings.TrimSpace(r.URL.Path + " " + user + " " + password)
		g.pushed[from] = append(g.pushed[from], body)
	}))
	t.Cleanup(g.Close)
	return g
}

// in returns the push that has a state.
func (g *gateway) in(t *testing.T, from, state string) string {
	t.Helper()
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for _, body := range g.pushed[from] {
		if stateIn(t, body) == state {
			return string(body)
		}
	}
	t.Errorf("%s: no push of %d has the state %s", from, len(g.pushed[from]), state)
	return ""
}

func TestTrain_PushesHowItEnded(t *testing.T) {
	t.Parallel()
	server := newGateway(t)
	dir := t.TempDir()
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, c := range []struct {
		ctx   context.Context
		args  []string
		code  int
		state string
	}{
		{interrupted, tiny("train", "--arm", "stage1"), exitInterrupted, "interrupted"},
		{t.Context(), tiny("train", "--arm", "stage1", "--learning-rate", "1e30"), exitFailure, "failed"},
		{t.Context(), tiny("train", "--arm", "stage1"), exitOK, "finished"},
		{t.Context(), tiny("train", "--arm", "stage1", "--run-name", "again"), exitOK, "finished"}, // complete already
	} {
		folder, name := filepath.Join(dir, "of-"+c.state), "of-"+c.state
		if slices.Contains(c.args, "again") {
			name = "again"
		}
		got := callIn(t, c.ctx, append(c.args, "--run-dir", folder, "--metrics-push", server.URL)...)
		if got.code != c.code {
			t.Fatalf("%q: exit code %d: %s", c.args, got.code, got.err)
		}
		server.in(t, "/metrics/job/nmn/instance/"+name, c.state)
	}
}

func TestTrain_PushesToWhereTheEnvironmentSays(t *testing.T) {
	t.Parallel()
	server := newGateway(t)
	var out, errors bytes.Buffer
	terminal := &terminal{in: strings.NewReader(""), out: &out, err: &errors, getenv: func(name string) string {
		return map[string]string{pushVariable: strings.Replace(server.URL, "//", "//me:secret@", 1)}[name]
	}}
	dir := filepath.Join(t.TempDir(), "fi")
	if code := execute(t.Context(), tiny("train", "--arm", "stage1", "--run-dir", dir, "-v"), terminal); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &errors)
	}
	wantParts(t, server.in(t, "/metrics/job/nmn/instance/fi me secret", "finished"), "nmn_validation_measure")
	server.Close() // from here on it is gone
	if code := execute(t.Context(), tiny("train", "--arm", "stage1", "--run-dir", dir), terminal); code != exitOK {
		t.Errorf("without the gateway: exit code %d", code)
	}
	if code := execute(t.Context(), []string{"train", "--help"}, terminal); code != exitOK {
		t.Errorf("help: exit code %d", code)
	}
	if strings.Contains(out.String()+errors.String(), "secret") || !strings.Contains(errors.String(),
		"cannot be exported") {
		t.Errorf("what it says: %s%s", &out, &errors)
	}
}
