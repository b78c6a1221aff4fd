package mlflow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake is a tracking server that keeps one run, and fails on demand.
type fake struct {
	mu      sync.Mutex
	created []string          // keys of the runs that were made
	params  map[string]string // of the last one
	tags    map[string]string
	metrics map[string][]float64 // by key, by arrival
	steps   map[string][]int64   // of them
	status  []Status
	files   map[string]string
	auth    string
	batches int
	biggest int // metrics of one request
	// answer, where it is not nil, takes a request before the server does, and reports whether it has answered.
	answer func(w http.ResponseWriter, r *http.Request) bool
}

func newFake(t *testing.T) (*fake, *httptest.Server) {
	f := &fake{params: map[string]string{}, tags: map[string]string{}, metrics: map[string][]float64{}, steps: map[string][]int64{},
		files: map[string]string{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, server
}

// failing sets answer.
func (f *fake) failing(answer func(http.ResponseWriter, *http.Request) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

func (f *fake) has(is func() bool) func() bool {
	return func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return is()
	}
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.auth = r.Header.Get("Authorization")
	if f.answer != nil && f.answer(w, r) {
		return
	}
	body, _ := io.ReadAll(r.Body)
	if file, ok := strings.CutPrefix(r.URL.Path, artifactsAPI); ok && r.Method == http.MethodPut {
		f.files[file] = string(body)
		fmt.Fprint(w, "{}")
		return
	}
	var in struct {
		Name, Status, Filter string
		Tags, Params         []pair
		Metrics              []metric
	}
	if strings.Contains(string(body), ":null") { // as MLflow does
		http.Error(w, "null", http.StatusInternalServerError)
		return
	}
	if len(body) > 0 && json.Unmarshal(body, &in) != nil {
		f.refuse(w, "BAD_REQUEST", "no JSON")
		return
	}
	switch strings.TrimPrefix(r.URL.Path, api) {
	case "experiments/get-by-name":
		if name := r.URL.Query().Get("experiment_name"); f.tags["experiment"] != name {
			f.refuse(w, "RESOURCE_DOES_NOT_EXIST", "no experiment "+name)
			return
		}
		fmt.Fprint(w, `{"experiment": {"experiment_id": "7", "lifecycle_stage": "active"}}`)
	case "experiments/create":
		f.tags["experiment"] = in.Name
		fmt.Fprint(w, `{"experiment_id": "7"}`)
	case "runs/search":
		if n := len(f.created); n > 0 && strings.Contains(in.Filter, f.created[n-1]) {
			fmt.Fprintf(w, `{"runs": [%s]}`, f.info())
			return
		}
		fmt.Fprint(w, `{}`)
	case "runs/create":
		for _, tag := range in.Tags {
			if f.tags[tag.Key] = tag.Value; tag.Key == keyTag {
				f.created = append(f.created, tag.Value)
			}
		}
		fmt.Fprintf(w, `{"run": %s}`, f.info())
	case "runs/update":
		f.status = append(f.status, Status(in.Status))
		fmt.Fprint(w, `{"run_info": {}}`)
	case "runs/log-batch":
		f.batch(w, in.Params, in.Tags, in.Metrics)
	default:
		http.NotFound(w, r)
	}
}

func (f *fake) info() string {
	return fmt.Sprintf(`{"info": {"run_id": "run%d", "artifact_uri": "mlflow-artifacts:/7/run%[1]d/artifacts"}}`,
		len(f.created))
}

func (f *fake) batch(w http.ResponseWriter, params, tags []pair, metrics []metric) {
	if len(params) > mostPairs || len(tags) > mostPairs || len(metrics)+len(tags)+len(params) > mostMetrics {
		f.refuse(w, "INVALID_PARAMETER_VALUE", "too many")
		return
	}
	for _, p := range params {
		if was, ok := f.params[p.Key]; ok && was != p.Value {
			f.refuse(w, "INVALID_PARAMETER_VALUE", "changing a parameter")
			return
		}
		f.params[p.Key] = p.Value
	}
	for _, p := range tags {
		f.tags[p.Key] = p.Value
	}
	for _, m := range metrics {
		f.metrics[m.Key] = append(f.metrics[m.Key], m.Value)
		f.steps[m.Key] = append(f.steps[m.Key], int64(m.Step))
	}
	if len(metrics) > 0 {
		f.batches++
		f.biggest = max(f.biggest, len(metrics))
	}
	fmt.Fprint(w, "{}")
}

func (f *fake) refuse(w http.ResponseWriter, code, message string) {
	w.WriteHeader(http.StatusBadRequest)
	fmt.Fprintf(w, `{"error_code": %q, "message": %q}`, code, message)
}

// logged is a log for tests.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// quick are options that try again soon, and wait for answers as long as it takes.
func quick(server, dir string, log *logged) Options {
	return Options{Server: server, Experiment: "birds", Name: "fd", Dir: dir, Log: slog.New(slog.NewTextHandler(log, nil)),
		Params: map[string]string{"train.seed": "3"}, Tags: map[string]string{"nmn.arm": "nmn-fd"},
		patience: patience{gather: 5 * time.Millisecond, retry: time.Millisecond, tries: 3, away: 5 * time.Millisecond,
			mostAway: 20 * time.Millisecond, request: time.Hour, end: time.Hour, file: time.Hour}}
}

func begin(t *testing.T, o Options) *Run {
	t.Helper()
	r, err := Begin(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for !is() {
		if end, ok := t.Deadline(); ok && time.Until(end) < time.Second {
			t.Fatalf("no %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}
