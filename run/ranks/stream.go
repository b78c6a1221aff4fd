package ranks

import (
	"errors"
	"io"

	"nmn/group"
)

// pieceBytes is how much of a stream is sent at once.
const pieceBytes = 1 << 20

// sender sends a stream from rank 0 to all others, in pieces that each rank gathers. An empty piece ends it.
type sender struct {
	group   group.Group
	pending []byte
	err     error // of the group; nothing is sent behind it
}

func (s *sender) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && s.err == nil {
		room := min(len(p), pieceBytes-len(s.pending))
		s.pending, p = append(s.pending, p[:room]...), p[room:]
		if len(s.pending) == pieceBytes {
			s.flush()
		}
	}
	return n - len(p), s.err
}

func (s *sender) flush() {
	if s.err == nil {
		_, s.err = s.group.Gather(s.pending)
		s.pending = s.pending[:0]
	}
}

// end sends what is left, and that nothing follows. The error is that of the group.
func (s *sender) end() error {
	if len(s.pending) > 0 {
		s.flush()
	}
	s.flush()
	return s.err
}

// receiver reads the stream that rank 0 sends.
type receiver struct {
	group group.Group
	piece []byte
	err   error // of the group, or io.EOF
}

func (r *receiver) Read(p []byte) (int, error) {
	for len(r.piece) == 0 && r.err == nil {
		all, err := r.group.Gather(nil)
		switch {
		case err != nil:
			r.err = err
		case len(all[0]) == 0:
			r.err = io.EOF
		default:
			r.piece = append(r.piece, all[0]...)
		}
	}
	if len(r.piece) == 0 {
		return 0, r.err
	}
	n := copy(p, r.piece)
	if r.piece = r.piece[n:]; len(r.piece) == 0 {
		r.piece = r.piece[:0]
	}
	return n, nil
}

// drain reads to the end of the stream. The error is that of the group.
func (r *receiver) drain() error {
	if _, err := io.Copy(io.Discard, r); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
