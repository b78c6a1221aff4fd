package metrics

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"nmn/internal/expect"
	"nmn/internal/setting"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// training returns the metrics of a run at work, and of its process.
func training(t *testing.T) (*Metrics, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewRegistry()
	m, err := New(registry)
	expect.OK(t, err)
	m.Begin(Run{Name: "fd", Arm: "nmn-fd"})
	m.Observer().Step(stepDone(7))
	return m, registry
}

// logged is a log for tests, safe for use by several goroutines.
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

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for !is() {
		if end, ok := t.Deadline(); ok && time.Until(end) < time.Second {
			t.Fatalf("no %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestExport_RefusesWhatCannotWork(t *testing.T) {
	_, registry := training(t)
	for _, e := range []Export{{Push: "gateway:9091"}, {Push: "ftp://h"}, {Push: "http://"},
		{Push: "http://h/?token=secret"}, {Push: "http://user:secret@h:port"}, {Push: "http://u:secret@h/#x"}} {
		x, err := StartExport(e, registry)
		var usage *setting.Error
		if !errors.As(err, &usage) || strings.Contains(err.Error(), "secret") || x != nil {
			t.Errorf("%+v: %v", e, err)
		}
	}
}

// pushes are what a gateway got.
type pushes struct {
	mu    sync.Mutex
	all   []string // method, path and user
	last  string
	fails int // number of first requests that fail
}

func (p *pushes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails > 0 {
		p.fails--
		http.Error(w, strings.Repeat("the disk is full ", 1<<14), http.StatusInternalServerError)
		return
	}
	user, password, _ := r.BasicAuth()
	p.all = append(p.all, r.Method+" "+r.URL.Path+" "+user+":"+password)
	body, _ := io.ReadAll(r.Body)
	p.last = string(body)
}

func (p *pushes) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)
}

func TestExport_PushesInPlaceOfWhatTheRunPushedBefore(t *testing.T) {
	_, registry := training(t)
	gateway := &pushes{fails: 2}
	server := httptest.NewServer(gateway)
	defer server.Close()
	log := new(logged)
	address := strings.Replace(server.URL, "http://", "http://me:secret@", 1) + "/prefix/"
	x, err := StartExport(Export{Push: address, Run: "fd", Every: time.Millisecond, Log: log.logger(), within: time.Hour},
		registry)
	expect.OK(t, err)
	waitFor(t, "push", func() bool { return gateway.count() > 1 })
	x.Close()
	server.Close() // a push that Close has cut off may still arrive
	if want := "PUT /prefix/metrics/job/nmn/instance/fd me:secret"; gateway.all[0] != want {
		t.Errorf("pushed by %s, want %s", gateway.all[0], want)
	}
	told := log.String()
	if strings.Count(told, "level=WARN") != 1 || !strings.Contains(told, "exported again") || len(told) > 1<<13 {
		t.Errorf("the log tells, with %d bytes: %.3000s", len(told), told)
	}
	if strings.Contains(told, "secret") || strings.Contains(told, "me:") {
		t.Errorf("credentials stand in the log: %s", told)
	}
}

func TestExport_PushesTheEnd(t *testing.T) {
	m, registry := training(t)
	gateway := new(pushes)
	server := httptest.NewServer(gateway)
	defer server.Close()
	x, err := StartExport(Export{Push: server.URL, Run: "fd", Every: time.Hour, Log: new(logged).logger(),
		within: time.Hour}, registry)
	expect.OK(t, err)
	waitFor(t, "push", func() bool { return gateway.count() == 1 })
	m.Enter(Finished)
	x.Close()
	if gateway.count() != 2 {
		t.Errorf("%d pushes, want one at the beginning and one at the end", gateway.count())
	}
	var names []string
	decoder := expfmt.NewDecoder(strings.NewReader(gateway.last), expfmt.NewFormat(expfmt.TypeProtoDelim))
	for {
		var f dto.MetricFamily
		if err := decoder.Decode(&f); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		names = append(names, f.GetName())
		for _, s := range f.Metric {
			if f.GetName() == "nmn_run_state" && (s.Label[0].GetValue() == string(Finished)) != (s.Gauge.GetValue() == 1) {
				t.Errorf("pushed last: %v", s)
			}
		}
	}
	if !slices.Contains(names, "nmn_run_state") || !slices.Contains(names, "process_open_fds") {
		t.Errorf("pushed last: %q", names)
	}
}

// A gateway that has gone, hangs or sends elsewhere costs a run a warning and some seconds at its end.
func TestExport_GatewaysThatAreNone(t *testing.T) {
	_, registry := training(t)
	elsewhere := httptest.NewServer(http.RedirectHandler("/other", http.StatusFound))
	defer elsewhere.Close()
	closed := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	closed.Close()
	for name, url := range map[string]string{"it sends elsewhere": elsewhere.URL, "it is gone": closed.URL} {
		log := new(logged)
		x, err := StartExport(Export{Push: url, Run: "fd", Every: time.Hour, Log: log.logger()}, registry)
		expect.OK(t, err)
		waitFor(t, "warning", func() bool { return strings.Contains(log.String(), "cannot be exported") })
		x.Close()
		if n := strings.Count(log.String(), "level=WARN"); n != 1 {
			t.Errorf("%s: %d warnings: %s", name, n, log)
		}
	}
}

// A real gateway takes what is pushed and serves it: with the instance that the alerts join by.
func TestExport_ToAPushgateway(t *testing.T) {
	program, err := exec.LookPath("prometheus-pushgateway")
	if err != nil {
		t.Skip("no prometheus-pushgateway in the path")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	expect.OK(t, err)
	address := listener.Addr().String()
	expect.OK(t, listener.Close())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	gateway := exec.CommandContext(ctx, program, "--web.listen-address="+address)
	expect.OK(t, gateway.Start())
	defer func() { cancel(); _ = gateway.Wait() }() // it ends by a signal
	waitFor(t, "gateway", func() bool {
		response, err := http.Get("http://" + address + "/-/ready")
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	})
	m, registry := training(t)
	log := new(logged)
	x, err := StartExport(Export{Push: "http://" + address, Run: "runs/fd ü", Every: time.Hour, Log: log.logger(),
		within: time.Hour}, registry)
	expect.OK(t, err)
	waitFor(t, "push", func() bool { return strings.Contains(get(t, "http://"+address+"/metrics"), "nmn_step") })
	m.Enter(Failed)
	x.Close()
	text := get(t, "http://"+address+"/metrics")
	for _, want := range []string{`nmn_step{instance="runs/fd ü",job="nmn"} 7`,
		`nmn_run_state{instance="runs/fd ü",job="nmn",state="failed"} 1`} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("the gateway does not serve %s", want)
		}
	}
	if log.String() != "" {
		t.Errorf("the log tells %s", log)
	}
}
