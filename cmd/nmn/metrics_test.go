package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
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
	check(t, err)
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
