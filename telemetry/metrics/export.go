package metrics

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/push"

	"nmn/internal/setting"
)

// Export selects the Pushgateway that receives the metrics, so that they outlive the process.
type Export struct {
	Push  string        // the URL of the gateway, with a name and a password if it wants them
	Run   string        // names the run: its metrics are this instance of the job nmn
	Every time.Duration // the time between two pushes; 0 for 15 seconds
	Log   *slog.Logger  // gets a warning when the gateway fails, and a line when it works again

	within time.Duration // how long one push may take; 0 for pushTimeout
}

const (
	exportEvery  = 15 * time.Second
	pushTimeout  = 5 * time.Second // how long one push may take
	lastPushes   = 2               // how often the state at the end is pushed until it arrives
	longestReply = 1 << 10         // the most that is read of a gateway's reply
	pushJob      = "nmn"
)

// Exporter pushes metrics regularly, from a separate goroutine. Training never waits for it.
type Exporter struct {
	export Export
	name   string // name of the gateway for the log, without credentials
	push   func(context.Context) error
	failed bool // the last time
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// StartExport pushes at once, every so often, and when Close is called. A URL that is none is an error; a gateway that
// does not answer is not.
func StartExport(e Export, gatherer prometheus.Gatherer) (*Exporter, error) {
	if e.Every <= 0 {
		e.Every = exportEvery
	}
	name, p, err := gateway(e.Push, e.Run, cmp.Or(e.within, pushTimeout), gatherer)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	x := &Exporter{export: e, name: name, push: p.PushContext, stop: stop}
	x.done.Go(func() { x.repeat(ctx) })
	return x, nil
}

func (x *Exporter) repeat(ctx context.Context) {
	ticker := time.NewTicker(x.export.Every)
	defer ticker.Stop()
	for {
		x.send(ctx)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// send pushes once. A failure is logged once, until pushing has worked again.
func (x *Exporter) send(ctx context.Context) bool {
	err := x.push(ctx)
	if ctx.Err() != nil {
		return false
	}
	switch {
	case err != nil && !x.failed:
		x.export.Log.Warn("metrics cannot be exported; training goes on, and they are tried again", "to", x.name,
			"error", err)
	case err == nil && x.failed:
		x.export.Log.Info("metrics are exported again", "to", x.name)
	}
	x.failed = err != nil
	return err == nil
}

// Close pushes the metrics as they are at the end. It tries for some seconds if that fails, and returns no error: a
// run is not worse for it.
func (x *Exporter) Close() {
	x.stop()
	x.done.Wait()
	for n := range lastPushes {
		if x.send(context.Background()) {
			return
		}
		if n+1 < lastPushes {
			time.Sleep(time.Second)
		}
	}
}

// gateway returns a pusher that replaces all earlier metrics of the same run, and its URL without credentials.
func gateway(address, run string, within time.Duration, gatherer prometheus.Gatherer) (string, *push.Pusher, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil: // its text has the URL, and in it perhaps a password
		return "", nil, setting.Errorf("metrics.push", "metrics: `metrics.push` is no URL: want http://host:9091")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return "", nil, setting.Errorf("metrics.push", "metrics: `metrics.push` is at %s: want the http or https URL of a "+
			"Pushgateway, such as http://host:9091", u.Scheme+"://"+u.Host)
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
	return u.String(), p, nil
}

// refuseRedirect returns a redirection as an answer: for most of them the client would repeat the request
// with GET, which a gateway answers with success.
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
