package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/push"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"nmn/internal/durable"
	"nmn/internal/setting"
)

// Export says where metrics go that must outlive the process, beside who scrapes them.
type Export struct {
	// Textfile is a file for the textfile collector of node_exporter, written anew each time; empty for none.
	Textfile string
	// Push is the URL of a Pushgateway, with a name and a password where it wants them; empty for none.
	Push string
	// Run names the run: its metrics have this label in the file, and are this instance of the job nmn in the gateway.
	Run string
	// Every is the time between two exports; 0 for 15 seconds.
	Every time.Duration
	Log   *slog.Logger // gets a warning when a target fails, and a line when it works again

	within time.Duration // how long one push may take; 0 for pushTimeout
}

const (
	exportEvery = 15 * time.Second
	// pushTimeout is how long one push may take.
	pushTimeout = 5 * time.Second
	// lastPushes is how often the state at the end is pushed until it arrives.
	lastPushes = 2
	// longestReply is the most that is read of what a gateway says.
	longestReply = 1 << 10
	pushJob      = "nmn"
)

// Exporter writes and pushes metrics every so often, from a goroutine of its own. Training never waits for it.
type Exporter struct {
	export  Export
	targets []*target
	stop    context.CancelFunc
	done    sync.WaitGroup
}

// target is one of the places that metrics go to.
type target struct {
	name   string // for the log, without credentials
	send   func(context.Context) error
	failed bool // the last time
}

// StartExport exports at once, every so often, and when Close is called. A file that cannot be written and a URL that is
// none are errors; a gateway that does not answer is not.
func StartExport(e Export, gatherer prometheus.Gatherer) (*Exporter, error) {
	if e.Every <= 0 {
		e.Every = exportEvery
	}
	x := &Exporter{export: e}
	if e.Textfile != "" {
		t, err := textfile(e.Textfile, e.Run, gatherer)
		if err != nil {
			return nil, err
		}
		x.targets = append(x.targets, t)
	}
	if e.Push != "" {
		t, err := gateway(e.Push, e.Run, cmp.Or(e.within, pushTimeout), gatherer)
		if err != nil {
			return nil, err
		}
		x.targets = append(x.targets, t)
	}
	ctx, stop := context.WithCancel(context.Background())
	x.stop = stop
	for _, t := range x.targets {
		x.done.Go(func() { x.repeat(ctx, t) })
	}
	return x, nil
}

func (x *Exporter) repeat(ctx context.Context, t *target) {
	ticker := time.NewTicker(x.export.Every)
	defer ticker.Stop()
	for {
		x.send(ctx, t)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// send exports once. What fails is told once, until it has worked again.
func (x *Exporter) send(ctx context.Context, t *target) bool {
	err := t.send(ctx)
	if ctx.Err() != nil {
		return false
	}
	switch {
	case err != nil && !t.failed:
		x.export.Log.Warn("metrics cannot be exported; training goes on, and they are tried again", "to", t.name,
			"error", err)
	case err == nil && t.failed:
		x.export.Log.Info("metrics are exported again", "to", t.name)
	}
	t.failed = err != nil
	return err == nil
}

// Close exports the metrics as they are at the end. It tries for some seconds where that fails, and returns no error: a
// run is not worse for it.
func (x *Exporter) Close() {
	x.stop()
	x.done.Wait()
	for _, t := range x.targets {
		x.done.Go(func() {
			for n := range lastPushes {
				if x.send(context.Background(), t) {
					return
				}
				if n+1 < lastPushes {
					time.Sleep(time.Second)
				}
			}
		})
	}
	x.done.Wait()
}

// textfile writes the metrics of nmn, and not those of the process: node_exporter has metrics of these names of its own.
// The name of the run is a label of all, so that several runs of a host have files beside each other.
func textfile(path, run string, gatherer prometheus.Gatherer) (*target, error) {
	if filepath.Ext(path) != ".prom" {
		return nil, setting.Errorf("metrics.textfile",
			"metrics: `metrics.textfile` is %q: the textfile collector reads files whose names end in .prom", path)
	}
	write := func(context.Context) error {
		families, err := gatherer.Gather()
		if err != nil {
			return err
		}
		var content bytes.Buffer
		for _, f := range families {
			if !strings.HasPrefix(f.GetName(), "nmn_") {
				continue
			}
			labelRun(f, run)
			if _, err := expfmt.MetricFamilyToText(&content, f); err != nil {
				return err
			}
		}
		return durable.Save(path, content.Bytes())
	}
	if err := write(context.Background()); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return &target{name: path, send: write}, nil
}

// labelRun gives the metrics of a family the label run where they have none.
func labelRun(f *dto.MetricFamily, run string) {
	name, value := "run", strings.ToValidUTF8(run, "\ufffd")
	for _, m := range f.Metric {
		if !slices.ContainsFunc(m.Label, func(l *dto.LabelPair) bool { return l.GetName() == name }) {
			m.Label = append(m.Label, &dto.LabelPair{Name: &name, Value: &value})
			slices.SortFunc(m.Label, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) })
		}
	}
}

// gateway pushes all metrics in place of those of the same run. Credentials leave the URL, which stands in errors.
func gateway(address, run string, within time.Duration, gatherer prometheus.Gatherer) (*target, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil: // its text has the URL, and in it perhaps a password
		return nil, setting.Errorf("metrics.push", "metrics: `metrics.push` is no URL: want http://host:9091")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return nil, setting.Errorf("metrics.push",
			"metrics: `metrics.push` is at %s: want the http or https URL of a Pushgateway, such as http://host:9091", u.Scheme+"://"+u.Host)
	}
	user := u.User
	u.User = nil
	p := push.New(strings.TrimSuffix(u.String(), "/"), pushJob).
		Grouping("instance", strings.ToValidUTF8(run, "\ufffd")).Gatherer(gatherer).
		Client(&frugal{http.Client{Timeout: within, CheckRedirect: refuseRedirect}})
	if user != nil {
		password, _ := user.Password()
		p = p.BasicAuth(user.Username(), password)
	}
	return &target{name: u.String(), send: p.PushContext}, nil
}

// refuseRedirect hands a redirection back as an answer: after most of them the client would ask with GET, to which a
// gateway says that all is well.
func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// frugal reads little of what servers answer.
type frugal struct{ client http.Client }

func (f *frugal) Do(r *http.Request) (*http.Response, error) {
	response, err := f.client.Do(r)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, longestReply), response.Body}
	}
	return response, err
}
