package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"nmn/internal/expect"
)

var metricsLine = regexp.MustCompile(`(?m)^metrics (http://\S+)\n`)

// scrape reads the samples without labels.
func scrape(address string) (map[string]float64, error) {
	response, err := http.Get(address)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	samples := map[string]float64{}
	for _, line := range strings.Split(string(body), "\n") {
		name, value, _ := strings.Cut(line, " ")
		if v, err := strconv.ParseFloat(value, 64); err == nil && strings.HasPrefix(name, "nmn_") {
			samples[name] = v
		}
	}
	return samples, err
}

// Metrics are read in the middle of a training, which waits meanwhile.
func TestTrain_ServesMetricsWhileItRuns(t *testing.T) {
	t.Parallel()
	const steps = 5
	var address string
	var seen []map[string]float64
	c := callTo(t.Context(), func(message []byte) {
		if match := metricsLine.FindSubmatch(message); match != nil {
			address = string(match[1])
		}
		if bytes.Contains(message, []byte("msg=step ")) {
			samples, err := scrape(address)
			if err != nil {
				t.Error(err)
			}
			seen = append(seen, samples)
		}
	}, tiny("train", "--set", "data.train_size="+strconv.Itoa(32*steps), "--arm", "stage1", "--run-dir",
		filepath.Join(t.TempDir(), "run"),
		"-v", "--set", "train.log_steps=1", "--metrics-addr", "0")...)
	if c.code != exitOK || len(seen) != steps {
		t.Fatalf("exit code %d, %d scrapes: %s", c.code, len(seen), c.err)
	}
	for i, now := range seen {
		done := float64(i) // the log has a step before the metrics do
		if now["nmn_steps_total"] != done || now["nmn_images_total"] != 32*done ||
			now["nmn_step_duration_seconds_count"] != done {
			t.Errorf("scrape %d: %v", i, now)
		}
		if i > 0 && (now["nmn_loss"] <= 0 || now["nmn_learning_rate"] <= 0 || now["nmn_step_duration_seconds_sum"] <= 0 ||
			now["nmn_epoch"] != 1) {
			t.Errorf("scrape %d: %v", i, now)
		}
	}
	if _, err := scrape(address); err == nil {
		t.Error("metrics are served after the end")
	}
}

func TestMetricsAddress_ComesFromTheEnvironmentUnlessAFlagTells(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	expect.OK(t, err)
	defer taken.Close()
	for _, c := range []struct {
		args []string
		want int
	}{
		{tiny("train", "--dry-run"), exitUsage}, // the address of the environment is taken
		{tiny("experiment", "--run-dir", t.TempDir()), exitUsage},
		{tiny("train", "--dry-run", "--metrics-addr", "0"), exitOK},
		{tiny("train", "--dry-run", "--metrics-addr", ""), exitOK},
	} {
		var stderr bytes.Buffer
		code := execute(t.Context(), c.args, &terminal{in: strings.NewReader(""), out: io.Discard, err: &stderr,
			getenv: func(name string) string {
				return map[string]string{metricsVariable: taken.Addr().String()}[name]
			}})
		if code != c.want || code != exitOK && !strings.Contains(stderr.String(), taken.Addr().String()) {
			t.Errorf("nmn %v: exit code %d, want %d: %s", c.args, code, c.want, &stderr)
		}
	}
}

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
