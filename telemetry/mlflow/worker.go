package mlflow

import (
	"context"
	"errors"
	"time"
)

// work sends what is queued, until the run has ended and nothing is left, or ctx ends: the rest goes to the spool.
func (r *Run) work(ctx context.Context) {
	for {
		entries, open := r.gather(ctx)
		r.deliver(ctx, entries, !open)
		if !open {
			return
		}
	}
}

// gather waits for an entry, and a moment for more. It returns without one where a server that is gone is to be asked
// again. open is false when the run has ended and the queue is empty.
func (r *Run) gather(ctx context.Context) (entries []entry, open bool) {
	var due <-chan time.Time
	if r.away > 0 {
		due = time.After(time.Until(r.again))
	}
	select {
	case <-r.queue.some:
	case <-due:
		return r.queue.take(), true
	case <-r.closing:
	case <-ctx.Done():
	}
	moment := time.NewTimer(r.options.patience.gather)
	defer moment.Stop()
	select {
	case <-moment.C:
		return r.queue.take(), true
	case <-r.closing:
		return r.queue.take(), false
	}
}

// deliver sends the spool and then the entries; while the server is gone they join the spool. last says that there is
// no later time.
func (r *Run) deliver(ctx context.Context, entries []entry, last bool) {
	if r.away > 0 && !last && time.Now().Before(r.again) {
		r.store(entries)
		return
	}
	backlog := !r.spool.empty()
	if backlog {
		r.store(entries) // behind what came before
		var err error
		if entries, err = r.spool.take(); err != nil {
			r.warn("its file of what was not sent cannot be read", err)
			return
		}
	}
	for i, e := range entries {
		err := r.try(ctx, e)
		if err == nil {
			continue
		}
		r.gone(err)
		if !backlog {
			r.store(entries[i:])
		} else if err := r.spool.keep(entries[i:]); err != nil {
			r.warn("what was sent stands in its file still", err)
		}
		return
	}
	if r.away > 0 {
		r.options.Log.Info("MLflow answers again", "server", r.client.server)
		r.away, r.told["gone"] = 0, false
	}
	if backlog {
		if err := r.spool.keep(nil); err != nil {
			r.warn("what was sent stands in its file still", err)
		}
	}
}

// store appends to the spool.
func (r *Run) store(entries []entry) {
	if len(entries) > 0 && !r.spool.add(entries...) {
		r.lost.Add(int64(len(entries)))
	}
}

// gone notes that the server does not answer, and says so once.
func (r *Run) gone(err error) {
	p := r.options.patience
	if r.away == 0 {
		r.away = p.away
	} else {
		r.away = min(2*r.away, p.mostAway)
	}
	r.again = time.Now().Add(r.away)
	if !r.told["gone"] {
		r.told["gone"] = true
		r.options.Log.Warn("MLflow does not take what it is told; the run goes on, and the rest waits in its folder",
			"server", r.client.server, "file", SpoolFile, "error", err)
	}
}

// warn says once that something goes wrong.
func (r *Run) warn(what string, err error) {
	if !r.told[what] {
		r.told[what] = true
		r.options.Log.Warn("MLflow: "+what, "server", r.client.server, "error", err)
	}
}

// try sends an entry, several times where the server does not answer well. What the server refuses is left out, with a
// warning.
func (r *Run) try(ctx context.Context, e entry) error {
	pause := r.options.patience.retry
	for n := 1; ; n++ {
		err := r.send(ctx, e)
		var refused *refusal
		switch {
		case err == nil:
			return nil
		case errors.As(err, &refused):
			r.warn("something is left out", err)
			return nil
		case n >= r.options.patience.tries || r.away > 0:
			return err
		}
		select {
		case <-time.After(pause):
			pause *= 2
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
