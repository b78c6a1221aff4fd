package main

import (
	"cmp"
	"context"
	"fmt"
	"nmn/run"
)

// watchedSession is a session with who watches it.
type watchedSession struct {
	*run.Session
	watch *watch
}

// openWatched opens a session whose messages and progress go to the terminal, and metrics to an address where one is
// given. The address comes first: reading data may take minutes, and who asks for metrics, or whether the program is
// up, gets an answer.
func openWatched(ctx context.Context, p *program, c run.Config, metrics string) (*watchedSession, error) {
	w, err := openWatch(ctx, p, metrics)
	if err != nil {
		return nil, err
	}
	s, err := run.Open(ctx, c, run.Options{Log: p.log, Observer: run.Observer{Message: p.tell, Training: w.observers, Trained: w.done}})
	if err != nil {
		return nil, cmp.Or(err, w.close())
	}
	return &watchedSession{s, w}, nil
}

func (s *watchedSession) Close() error { return cmp.Or(s.watch.close(), s.Session.Close()) }

// tell shows a message to people.
func (p *program) tell(m run.Message) {
	text := m.Text
	if m.Topic != "" {
		text = fmt.Sprintf("%-8s%s", m.Topic, m.Text)
	}
	switch {
	case m.Detail:
		p.note("%s", text)
	case !p.quiet:
		fmt.Fprintln(p.status, text)
	}
}
