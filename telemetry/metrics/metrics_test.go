package metrics

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"nmn/eval"
	"nmn/internal/expect"
	"nmn/loader"
	"nmn/train"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

func stepDone(step int) train.StepDone {
	return train.StepDone{Progress: train.Progress{Epoch: 2, Step: step, Steps: 100, Loss: 1.5, LearningRate: 1e-3,
		GradNorm: 7, DataWait: 250 * time.Millisecond, Duration: 500 * time.Millisecond, DeviceBytes: 4096, Log: true},
		Bags: 8, Images: 16}
}

func evaluated(t *testing.T, step int) train.Evaluated {
	t.Helper()
	r, err := eval.Evaluate(eval.Input{Bags: 2, Classes: 1, Scores: []float32{.9, .2}, Labels: []uint8{1, 0}},
		eval.Options{})
	expect.OK(t, err)
	return train.Evaluated{Epoch: 2, Step: step, Result: r, Best: true, Value: 1, Duration: time.Second}
}

func get(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	expect.OK(t, err)
	defer func() {
		expect.OK(t, response.Body.Close())
	}()
	body, err := io.ReadAll(response.Body)
	expect.OK(t, err)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %s", url, response.Status, body)
	}
	return string(body)
}

// scraped is what Prometheus would read now.
func scraped(t *testing.T, registry *prometheus.Registry) string {
	t.Helper()
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer,
		httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return answer.Body.String()
}

func TestServer_ScrapeTellsEveryMetricAndPassesLint(t *testing.T) {
	registry := prometheus.NewRegistry()
	m, err := New(registry)
	expect.OK(t, err)
	observer := m.Observer()
	m.Begin(Run{Arm: "baseline", Seed: 1})
	observer.Evaluated(evaluated(t, 100))
	m.Begin(Run{Arm: "nmn-fd", MIL: true, Noise: .4, Seed: 3, Device: "cpu avx2, 2 threads", Version: "v1.0.0",
		Revision: "abc"})
	if text := scraped(t, registry); strings.Contains(text, "nmn_validation_measure{") {
		t.Errorf("a new run shows the validation of another:\n%s", text)
	}
	observer.Step(stepDone(1))
	second := stepDone(2)
	second.RankTimes = train.RankTimes{Ranks: 4, Wait: time.Second, MostWait: 2 * time.Second, Slowest: 3}
	observer.Step(second)
	observer.Bad(train.BadSamples{New: make([]loader.BadSample, 3), Count: 3})
	observer.Evaluated(evaluated(t, 2))
	observer.Saved(train.Saved{})
	server, err := Serve(t.Context(), "0", registry)
	expect.OK(t, err)
	text := get(t, "http://"+server.Address()+"/metrics")
	for _, line := range []string{
		"nmn_loss 1.5", "nmn_learning_rate 0.001", "nmn_gradient_norm 7", "nmn_epoch 2", "nmn_device_memory_bytes 4096",
		"nmn_ranks 4", "nmn_rank_wait_seconds_total 1", "nmn_rank_wait_most_seconds_total 2", "nmn_slowest_rank 3",
		"nmn_images_total 32", "nmn_steps_total 2", "nmn_data_wait_seconds_total 0.5", "nmn_bad_samples_total 3",
		"nmn_checkpoints_total 1",
		"nmn_step 2", "nmn_planned_steps 100",
		`nmn_run_info{arm="nmn-fd",device="cpu avx2,` +
			` 2 threads",mil="true",noise="0.4",revision="abc",run="",seed="3",version="v1.0.0"} 1`,
		"nmn_step_duration_seconds_count 2", "nmn_step_duration_seconds_sum 1",
		`nmn_validation_measure{measure="map"} 1`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %q in\n%s", line, text)
		}
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	expect.OK(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	if strings.Contains(text, `"baseline"`) {
		t.Errorf("a run that is over is still reported:\n%s", text)
	}
	for range 2 {
		expect.OK(t, server.Close())
	}
}

func TestMetrics_SecondRegistrationIsAnError(t *testing.T) {
	registry := prometheus.NewRegistry()
	if _, err := New(registry); err != nil {
		t.Fatal(err)
	}
	if _, err := New(registry); err == nil {
		t.Error("the same metrics were registered twice")
	}
}

func TestServe_PortAloneListensOnLocalhostAndEndsWithTheContext(t *testing.T) {
	for _, address := range []string{"0", ":0"} {
		ctx, cancel := context.WithCancel(t.Context())
		server, err := Serve(ctx, address, prometheus.NewRegistry())
		expect.OK(t, err)
		host, _, err := net.SplitHostPort(server.Address())
		if err != nil || !net.ParseIP(host).IsLoopback() {
			t.Errorf("%q listens on %s", address, server.Address())
		}
		cancel()
		expect.OK(t, server.Close())
		if _, err := net.DialTimeout("tcp", server.Address(), time.Second); err == nil {
			t.Errorf("%s still answers", server.Address())
		}
	}
}

func TestServe_BadOrTakenAddressIsAnError(t *testing.T) {
	server, err := Serve(t.Context(), "0", prometheus.NewRegistry())
	expect.OK(t, err)
	for _, address := range []string{server.Address(), "a:b:c", "localhost:notaport"} {
		if _, err := Serve(t.Context(), address, prometheus.NewRegistry()); err == nil ||
			!strings.Contains(err.Error(), "metrics: ") {
			t.Errorf("%q: %v", address, err)
		}
	}
	expect.OK(t, server.Close())
}
