package doctor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"nmn/internal/rng"
	"nmn/loader"
	"nmn/loader/alike"
	"nmn/loader/picture"
)

// lookAtPictures reads every picture of every split, and adds findings.
func (r *Report) lookAtPictures(ctx context.Context, splits []Split, o Options) error {
	s := newScan(splits, o)
	if err := s.run(ctx); err != nil {
		return err
	}
	at := 0
	for i := range splits {
		n := r.Splits[i].Frames
		p := measurePictures(s.looks[at:at+n], splits[i].Set.IDs)
		p.Bytes = s.bytes[i].Load()
		for _, e := range s.errors {
			if e.at >= at && e.at < at+n {
				p.Errors = append(p.Errors, e.text)
			}
		}
		r.Splits[i].Pictures = p
		at += n
	}
	r.compareContent(s.looks, splits, r.Files, func(split int) *Copies { return &r.Splits[split].Pictures.Copies })
	r.compareLooks(s.looks, splits)
	for i := range r.Splits {
		r.pictureFindings(&r.Splits[i], &o)
	}
	return nil
}

// scan is a pass over the pictures of all splits.
type scan struct {
	splits []Split
	o      Options
	looks  []look // split by split, in the order of bags and frames
	decode []bool
	bytes  []atomic.Int64 // of the files of each split

	next   atomic.Int64
	mutex  sync.Mutex
	done   int
	errors []brokenPicture // the first of them, in order once the pass is over
}

type brokenPicture struct {
	at   int
	text string
}

func newScan(splits []Split, o Options) *scan {
	s := &scan{splits: splits, o: o, bytes: make([]atomic.Int64, len(splits))}
	for i, split := range splits {
		first := len(s.looks)
		for bag := range split.Set.Len() {
			for frame := range split.Set.Source.Frames(bag) {
				s.looks = append(s.looks, look{split: uint8(i), bag: int32(bag), frame: int32(frame)})
			}
		}
		s.decode = append(s.decode, drawn(len(s.looks)-first, o.Sample, rng.Derive(o.Seed, "doctor/"+split.Name))...)
	}
	return s
}

// drawn returns which of n pictures are decoded: as many as the sample has, or all.
func drawn(n, sample int, seed uint64) []bool {
	if sample == 0 || sample >= n {
		return slices.Repeat([]bool{true}, n)
	}
	in := make([]bool, n)
	order := rng.NewPermutation(seed, n)
	for i := range sample {
		in[order.At(i)] = true
	}
	return in
}

// run looks at all pictures. A decoder cannot be interrupted: when ctx ends, the workers are left alone with the
// pictures that they are in, and the scan must not be used any more.
func (s *scan) run(ctx context.Context) error {
	group, within := errgroup.WithContext(ctx)
	for range s.o.Workers {
		group.Go(func() error {
			w := scanWorker{scan: s, pic: picture.Picture{MaxPixels: s.o.MaxPixels, Orientation: s.o.Orientation}}
			for {
				at := int(s.next.Add(1)) - 1
				if at >= len(s.looks) {
					return nil
				}
				if err := w.look(within, at); err != nil {
					return err
				}
				s.report()
			}
		})
	}
	ended := make(chan error, 1)
	go func() { ended <- group.Wait() }()
	select {
	case err := <-ended:
		s.sortErrors()
		return err
	case <-ctx.Done():
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.o.Progress = nil // which is not called any more
		return ctx.Err()
	}
}

func (s *scan) report() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.done++
	if s.o.Progress != nil {
		s.o.Progress(Progress{"pictures", s.done, len(s.looks)})
	}
}

// keepError keeps the texts of the pictures that come first, whichever were read first.
func (s *scan) keepError(at int, err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.errors = append(s.errors, brokenPicture{at, err.Error()})
	if len(s.errors) > 2*listedErrors {
		s.sortErrors()
	}
}

func (s *scan) sortErrors() {
	slices.SortFunc(s.errors, func(a, b brokenPicture) int { return a.at - b.at })
	s.errors = s.errors[:min(len(s.errors), listedErrors)]
}

// scanWorker has the memory of one goroutine.
type scanWorker struct {
	*scan
	file []byte
	pic  picture.Picture
}

// look reads a picture and records its properties. A picture that cannot be used is recorded too; an error
// concerns the system.
func (w *scanWorker) look(ctx context.Context, at int) error {
	l := &w.looks[at]
	source := w.splits[l.split].Set.Source
	var err error
	w.file, err = loader.ReadEncoded(ctx, source, int(l.bag), int(l.frame), w.file)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		err = w.painted(ctx, source, l, at)
	case err == nil:
		err = w.stored(ctx, source, l, at)
	}
	if errors.Is(err, loader.ErrCorrupt) {
		l.state |= isBroken
		w.keepError(at, err)
		return nil
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("doctor: sample %s of %s: %w", w.splits[l.split].Set.IDs[l.bag], w.splits[l.split].Name, err)
	}
	return err
}

// stored looks at a picture from its file.
func (w *scanWorker) stored(ctx context.Context, source loader.Source, l *look, at int) error {
	l.note(w.file)
	l.format = uint8(slices.Index(formats, cmp.Or(picture.Format(w.file), "other")))
	w.bytes[l.split].Add(int64(len(w.file)))
	if picture.StoredOrientation(w.file) != 1 {
		l.state |= isTurned
	}
	if !w.decode[at] {
		return nil
	}
	if err := picture.Decode(w.file, &w.pic); err != nil {
		// The source returns the same error, and names the file.
		if named := source.Read(ctx, int(l.bag), int(l.frame), &w.pic); named != nil {
			return named
		}
		return err
	}
	l.width, l.height = int32(w.pic.Width), int32(w.pic.Height)
	if int(l.frame) == source.Frames(int(l.bag))/2 { // frames of one clip look alike
		if sign, clear := alike.Sign(&w.pic); clear {
			l.sign, l.state = sign, l.state|isSigned
		}
	}
	return nil
}

// painted looks at a picture of a source that makes them.
func (w *scanWorker) painted(ctx context.Context, source loader.Source, l *look, at int) error {
	if !w.decode[at] {
		return nil
	}
	if err := source.Read(ctx, int(l.bag), int(l.frame), &w.pic); err != nil {
		return err
	}
	l.note(w.pic.Pix)
	l.width, l.height = int32(w.pic.Width), int32(w.pic.Height)
	return nil
}

// note keeps half of the hash of a content: enough that no two of a billion are the same by chance.
func (l *look) note(content []byte) {
	sum := sha256.Sum256(content)
	l.content = [16]byte(sum[:])
	l.state |= isRead
}
