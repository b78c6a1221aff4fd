package main

import (
	"cmp"
	"context"
	"fmt"
)

// watchedSession is a session with who watches it.
type watchedSession struct {
	*session
	watch *watch
}

// openWatched opens a session whose messages and progress go to the terminal, and metrics to an address where one is
// given. The address comes first: reading data may take minutes, and who asks for metrics, or whether the program is
// up, gets an answer.
func openWatched(ctx context.Context, p *program, c *config, metrics string) (*watchedSession, error) {
	w, err := openWatch(ctx, p, metrics)
	if err != nil {
		return nil, err
	}
	s, err := openSession(ctx, c, sessionOptions{log: p.log, observe: observer{message: p.tell, training: w.observers, trained: w.done}})
	if err != nil {
		return nil, cmp.Or(err, w.close())
	}
	return &watchedSession{s, w}, nil
}

func (s *watchedSession) Close() error { return cmp.Or(s.watch.close(), s.session.Close()) }

// tell shows a message to people.
func (p *program) tell(m message) {
	text := m.text
	if m.topic != "" {
		text = fmt.Sprintf("%-8s%s", m.topic, m.text)
	}
	switch {
	case m.detail:
		p.note("%s", text)
	case !p.quiet:
		fmt.Fprintln(p.status, text)
	}
}
