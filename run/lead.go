package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nmn/group"
)

// leadPause is how often rank 0 says that it still works: much less than ranks wait for one of them before they give it up.
const leadPause = 200 * time.Millisecond

// Lead calls f on rank 0 alone while the others wait for its end, however long that takes: f may wait for other jobs. Its
// error is one of all ranks. An interrupt of any rank ends the context of f.
func (s *Session) Lead(ctx context.Context, f func(context.Context) error) error {
	if s.ranks.Size() == 1 {
		return f(ctx)
	}
	done := make(chan error, 1)
	working, cancel := context.WithCancel(ctx)
	defer cancel()
	if s.leads() {
		go func() {
			defer close(done)
			done <- f(working)
		}()
	}
	own, err := s.attend(ctx, done, cancel)
	if err != nil {
		if s.leads() {
			cancel()
			err = errors.Join(err, <-done)
		}
		return err
	}
	if err = s.agree(own); errors.Is(err, context.Canceled) && !errors.Is(err, ErrInterrupted) {
		err = fmt.Errorf("%w: %w", ErrInterrupted, err)
	}
	return err
}

// attend keeps the ranks together until what rank 0 does has ended, and returns how on rank 0. err is that of the group.
func (s *Session) attend(ctx context.Context, done <-chan error, cancel context.CancelFunc) (own, err error) {
	const works, ended = 0, 1
	ticker := time.NewTicker(leadPause)
	defer ticker.Stop()
	for {
		state := byte(works)
		if s.leads() {
			select {
			case own = <-done:
				state = ended
			case <-ticker.C:
			}
		}
		all, err := s.ranks.Gather(append([]byte{state}, group.Status(ctx.Err())...))
		if err != nil {
			return nil, errors.Join(err, own)
		}
		if len(all[0]) > 0 && all[0][0] == ended {
			return own, nil
		}
		status := make([][]byte, len(all))
		for rank, told := range all {
			status[rank] = told[min(1, len(told)):]
		}
		if group.Heard(s.ranks, status) != nil {
			cancel()
		}
	}
}
