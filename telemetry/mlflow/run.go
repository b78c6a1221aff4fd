package mlflow

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"nmn/train"
)

// Status is how a run has ended, in MLflow's words.
type Status string

// The states of a run.
const (
	Running  Status = "RUNNING"
	Finished Status = "FINISHED"
	Failed   Status = "FAILED"
	Killed   Status = "KILLED" // interrupted
)

// Options say what a run is called and where it is told of.
type Options struct {
	Server     string // as ParseURL gives it
	Access     Access
	Experiment string
	Name       string
	Dir        string // the run folder, which is there
	Parent     *Run   // that this one is a part of; nil for none
	Params     map[string]string
	Tags       map[string]string
	Log        *slog.Logger // of what goes wrong

	patience patience // zero for the usual one
}

// patience says how long a server is waited for.
type patience struct {
	gather    time.Duration // metrics before a request
	retry     time.Duration // the second try; the third comes after twice as long
	tries     int
	away      time.Duration // a server that is gone is asked again, at first
	mostAway  time.Duration
	request   time.Duration // for its answer
	end, file time.Duration // at the end of a run, and for one file
}

var usual = patience{gather: time.Second, retry: 500 * time.Millisecond, tries: 3, away: 5 * time.Second,
	mostAway: time.Minute, request: 10 * time.Second, end: 10 * time.Second, file: time.Minute}

// Run is a run that a server is told of. A nil *Run is told of nowhere. Its methods, but Close, never wait.
type Run struct {
	options Options
	client  *client
	spool   spool
	queue   *queue
	closing chan struct{} // closed when End has been called
	cancel  context.CancelFunc
	done    sync.WaitGroup
	lost    atomic.Int64

	mu    sync.Mutex // of state, which a child reads
	state state

	// Of the goroutine that sends.
	away  time.Duration // how long the server is left alone; 0 while it answers
	again time.Time     // when it is asked next
	told  map[string]bool
}

// Begin goes on with the run of a folder, or begins one. The server need not answer; an error is about the folder.
func Begin(o Options) (*Run, error) {
	r, err := start(o)
	if err != nil {
		return nil, err
	}
	r.put(entry{Status: Running})
	return r, nil
}

// Resend sends what the server has not taken of a run that has ended, if there is anything, and waits as End does.
func Resend(o Options) error {
	if (spool{filepath.Join(o.Dir, SpoolFile)}).empty() {
		return nil
	}
	r, err := start(o)
	if err == nil {
		r.finish()
	}
	return err
}

func start(o Options) (*Run, error) {
	s, err := readState(o.Dir, o.Server, o.Experiment)
	if err != nil {
		return nil, err
	}
	if o.patience == (patience{}) {
		o.patience = usual
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &Run{options: o, client: newClient(o.Server, o.Access, o.patience.request),
		spool: spool{filepath.Join(o.Dir, SpoolFile)}, queue: newQueue(), closing: make(chan struct{}), cancel: cancel,
		state: *s, told: map[string]bool{}}
	r.done.Go(func() { r.work(ctx) })
	return r, nil
}

// put queues an entry; where there is no room it is counted as lost.
func (r *Run) put(e entry) {
	if !r.queue.put(e) {
		r.lost.Add(1)
	}
}

// Metrics tells of figures at a step: names and float64s in turns.
func (r *Run) Metrics(step int, values ...any) {
	if r == nil {
		return
	}
	if all := at(step, values...); len(all) > 0 {
		r.put(entry{Metrics: all})
	}
}

// Tags tells of more tags.
func (r *Run) Tags(tags map[string]string) {
	if r != nil {
		r.put(entry{Tags: pairsOf(tags, longestTag)})
	}
}

// File puts a file of the run folder among the artifacts.
func (r *Run) File(name string) {
	if r != nil {
		r.put(entry{File: name})
	}
}

// Observer tells of steps on the log interval, epochs and validations, by the names that they have for TensorBoard.
func (r *Run) Observer() train.Observer {
	if r == nil {
		return train.Observer{}
	}
	return train.Observer{
		Step: func(e train.StepDone) {
			if e.Log {
				r.Metrics(e.Step, "train/loss", e.Loss, "train/learning_rate", e.LearningRate, "train/gradient_norm",
					e.GradNorm, "speed/images_per_s", e.ImagesPerSecond(), "speed/data_wait_s", e.DataWait.Seconds())
			}
		},
		Epoch: func(e train.EpochDone) { r.Metrics(e.Step, "train/epoch_loss", e.Loss) },
		Evaluated: func(e train.Evaluated) {
			var values []any
			for _, name := range train.Measures() {
				values = append(values, "validation/"+name, float64(train.Measure(name, e.Result)))
			}
			r.Metrics(e.Step, values...)
		},
	}
}

// End tells how the run has ended, and waits for at most ten seconds until everything has been sent. What has not is in
// the folder then, and is sent when the run is opened again.
func (r *Run) End(status Status) {
	if r == nil {
		return
	}
	r.put(entry{Status: status, Ended: time.Now().UnixMilli()})
	r.finish()
}

// finish waits until what is queued has been sent or stored.
func (r *Run) finish() {
	close(r.closing)
	timer := time.AfterFunc(r.options.patience.end, r.cancel)
	r.done.Wait()
	timer.Stop()
	r.cancel()
	if n := r.lost.Load(); n > 0 {
		r.options.Log.Warn("MLflow has not been told of everything", "left_out", n)
	}
}

// id is the server's name of the run; empty while there is none.
func (r *Run) id() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state.RunID
}
