package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// stateIn reads the state of a run and its name from a file of metrics.
func stateIn(t *testing.T, path string) (run, state string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		labels, of := strings.CutPrefix(line, "nmn_run_state{")
		if labels, is := strings.CutSuffix(labels, "} 1\n"); of && is {
			parts := strings.Split(labels, `"`)
			return parts[1], parts[3]
		}
	}
	t.Fatalf("no state in\n%s", content)
	return "", ""
}

func TestTrain_MetricsOutliveIt(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "nmn.prom")
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
		{t.Context(), tiny("train", "--arm", "stage1"), exitOK, "finished"}, // it is complete already
	} {
		folder := filepath.Join(dir, "of-"+c.state)
		got := callIn(t, c.ctx, append(c.args, "--run-dir", folder, "--metrics-textfile", file)...)
		if got.code != c.code {
			t.Fatalf("%q: exit code %d: %s", c.args, got.code, got.err)
		}
		if run, state := stateIn(t, file); run != "of-"+c.state || state != c.state {
			t.Errorf("%q: run %s is %s, want of-%s and %s", c.args, run, state, c.state, c.state)
		}
	}
	wantUsage(t, call(t, tiny("train", "--metrics-textfile", filepath.Join(dir, "nmn.txt"))...), "--metrics-textfile", ".prom")
}

func TestTrain_PushesToWhereTheEnvironmentSays(t *testing.T) {
	var mutex sync.Mutex
	var path, pushed string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		user, password, _ := r.BasicAuth()
		mutex.Lock()
		defer mutex.Unlock()
		path, pushed = r.URL.Path+" "+user+" "+password, string(body)
	}))
	defer server.Close()
	var out, errors bytes.Buffer
	terminal := &terminal{in: strings.NewReader(""), out: &out, err: &errors, getenv: func(name string) string {
		return map[string]string{pushVariable: strings.Replace(server.URL, "//", "//me:secret@", 1)}[name]
	}}
	dir := filepath.Join(t.TempDir(), "fi")
	if code := execute(t.Context(), tiny("train", "--arm", "stage1", "--run-dir", dir, "-v"), terminal); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &errors)
	}
	if path != "/metrics/job/nmn/instance/fi me secret" || !strings.Contains(pushed, "nmn_validation_measure") ||
		!strings.Contains(pushed, "finished") {
		t.Errorf("pushed to %s: %q", path, pushed)
	}
	server.Close() // from here on it is gone
	if code := execute(t.Context(), tiny("train", "--arm", "stage1", "--run-dir", dir), terminal); code != exitOK {
		t.Errorf("without the gateway: exit code %d", code)
	}
	if code := execute(t.Context(), []string{"train", "--help"}, terminal); code != exitOK {
		t.Errorf("help: exit code %d", code)
	}
	if strings.Contains(out.String()+errors.String(), "secret") || !strings.Contains(errors.String(), "cannot be exported") {
		t.Errorf("what it says: %s%s", &out, &errors)
	}
}
