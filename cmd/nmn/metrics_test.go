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
	"sync"
	"testing"
	"time"
)

// announced is a standard error that tells where the metrics are served, as soon as it is written.
type announced struct {
	mutex   sync.Mutex
	written bytes.Buffer
	address chan string
	told    bool
}

var metricsLine = regexp.MustCompile(`(?m)^metrics (http://\S+)\n`)

func (a *announced) Write(b []byte) (int, error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.written.Write(b)
	if match := metricsLine.FindSubmatch(a.written.Bytes()); match != nil && !a.told {
		a.told = true
		a.address <- string(match[1])
	}
	return len(b), nil
}

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

func TestTrain_ServesMetricsWhileItRuns(t *testing.T) {
	stderr := &announced{address: make(chan string, 1)}
	dir := filepath.Join(t.TempDir(), "run")
	ended := make(chan int, 1)
	go func() {
		ended <- execute(t.Context(), tiny("train", "--train-size", "640", "--arm", "stage1", "--run-dir", dir,
			"--metrics-addr", "0"),
			&terminal{in: strings.NewReader(""), out: io.Discard, err: stderr,
				getenv: func(string) string { return "" }})
	}()
	var address string
	select {
	case address = <-stderr.address:
	case code := <-ended:
		t.Fatalf("ended with code %d before it served: %s", code, &stderr.written)
	}
	if c := call(t, "healthcheck", "--metrics-addr", host(address)); c.code != exitOK || c.out != "up\n" {
		t.Errorf("healthcheck of a training: %+v", c)
	}
	var seen []map[string]float64
	for code := -1; code < 0; {
		select {
		case code = <-ended:
			if code != exitOK {
				t.Fatalf("exit code %d: %s", code, &stderr.written)
			}
		case <-time.After(2 * time.Millisecond):
			if samples, err := scrape(address); err == nil && samples["nmn_steps_total"] > 0 {
				seen = append(seen, samples)
			}
		}
	}
	if len(seen) < 2 {
		t.Fatalf("%d scrapes met the run at work", len(seen))
	}
	for i, now := range seen {
		// Training goes on while a scrape reads one counter after the other: what it finds lies between
		// the steps of the scrapes around it, a step in progress apart.
		least, most := 0., 20.
		if i > 0 {
			least = seen[i-1]["nmn_steps_total"]
		}
		if i+1 < len(seen) {
			most = seen[i+1]["nmn_steps_total"]
		}
		for what, counted := range map[string]float64{"batches of 32 images": now["nmn_images_total"] / 32,
			"durations": now["nmn_step_duration_seconds_count"]} {
			if counted < least-1 || counted > most+1 {
				t.Errorf("scrape %d: %v %s between steps %v and %v", i, counted, what, least, most)
			}
		}
		// The first may fall within the first step, and have read the loss before there was one.
		if i > 0 && (now["nmn_loss"] <= 0 || now["nmn_learning_rate"] <= 0 ||
			now["nmn_step_duration_seconds_sum"] <= 0 || now["nmn_epoch"] != 1) {
			t.Errorf("scrape %d: %v", i, now)
		}
		if i > 0 && now["nmn_steps_total"] < seen[i-1]["nmn_steps_total"] {
			t.Errorf("scrape %d: steps go from %v to %v", i, seen[i-1]["nmn_steps_total"], now["nmn_steps_total"])
		}
	}
	if first, last := seen[0]["nmn_steps_total"], seen[len(seen)-1]["nmn_steps_total"]; first >= 20 || first == last {
		t.Errorf("all scrapes lie between steps %v and %v of 20", first, last)
	}
	if _, err := scrape(address); err == nil {
		t.Error("metrics are served after the end")
	}
	if c := call(t, "healthcheck", "--metrics-addr", host(address)); c.code != exitFailure || c.out != "" {
		t.Errorf("healthcheck after the end: %+v", c)
	}
}

// host is host:port of where metrics are served.
func host(address string) string {
	return strings.TrimSuffix(strings.TrimPrefix(address, "http://"), "/metrics")
}

func TestMetricsAddress_ComesFromTheEnvironmentUnlessAFlagTells(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		args []string
		want int
	}{
		{tiny("train", "--dry-run"), exitUsage}, // the address of the environment is taken
		{tiny("experiment", "--run-dir", t.TempDir()), exitUsage},
		{tiny("train", "--dry-run", "--metrics-addr", "0"), exitOK},
		{tiny("train", "--dry-run", "--metrics-addr", ""), exitOK},
		{[]string{"healthcheck", "--timeout", "50ms"}, exitFailure}, // who has taken it does not answer
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
