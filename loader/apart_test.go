package loader

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"nmn/internal/expect"
	"nmn/loader/picture"
)

// stuckSource is inside a picture until it is let go, whatever becomes of the context, as a decoder is.
type stuckSource struct {
	inside chan struct{} // gets a value when a picture is begun
	letGo  chan struct{}
}

func (s *stuckSource) Frames(int) int { return 1 }

func (s *stuckSource) Read(_ context.Context, _, _ int, pic *picture.Picture) error {
	s.inside <- struct{}{}
	<-s.letGo
	pic.Resize(2, 2)
	return nil
}

// A signal must not wait for the picture that a decoder is in: one file can take minutes.
func TestLoader_CancellationDoesNotWaitForDecoders(t *testing.T) {
	before := runtime.NumGoroutine()
	source := &stuckSource{inside: make(chan struct{}, 9), letGo: make(chan struct{})}
	set := clipSet(t, raggedClips())
	set.Source = source
	l := mustLoader(t, set, clipConfig())
	for name, end := range map[string]func(*Epoch, context.CancelFunc) error{
		"cancelled": func(e *Epoch, cancel context.CancelFunc) error {
			cancel()
			_, err := e.Next(context.Background())
			return err
		},
		"closed": func(e *Epoch, _ context.CancelFunc) error { e.Close(); return context.Canceled },
	} {
		ctx, cancel := context.WithCancel(context.Background())
		e, err := l.Epoch(ctx, 0, 0)
		expect.OK(t, err)
		<-source.inside
		if err := end(e, cancel); !errors.Is(err, context.Canceled) { // before the decoder is let go
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
	close(source.letGo)
	noGoroutinesLeft(before)
}
