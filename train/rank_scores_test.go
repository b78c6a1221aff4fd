package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"nmn/eval"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/ranks"
	"nmn/ranks/local"
)

// patience is how long a rank waits for another one in the tests.
const patience = time.Hour

// scoreOnRanks runs f on each of n ranks and returns its errors. No goroutine may be left afterwards.
func scoreOnRanks(t *testing.T, n int, f func(g ranks.Group) error) []error {
	t.Helper()
	before := runtime.NumGoroutine()
	errs := make([]error, n)
	var all sync.WaitGroup
	for i, g := range local.New(n, patience) {
		all.Go(func() { errs[i] = f(g) })
	}
	all.Wait()
	for runtime.NumGoroutine() > before { // until the test's own deadline, which lists the goroutines
		time.Sleep(time.Millisecond) // goroutines inside a picture end by themselves
	}
	return errs
}

// netsOf returns n equal nets, each with a set, as ragged makes them.
type netsOf struct {
	nets   []*model.Net
	sets   []*loader.Set
	config loader.Config
}

func raggedNets(t *testing.T, n int) (of netsOf) {
	t.Helper()
	for range n {
		net, set, config := ragged(t, nil)
		of.nets, of.sets, of.config = append(of.nets, net), append(of.sets, set), config
	}
	return of
}

// spoilt are scenes with unreadable bags: each fifth one, and the four of one batch.
type spoilt struct{ loader.Source }

func (s spoilt) Frames(bag int) int { return s.Source.Frames(bag) }

func (s spoilt) Read(ctx context.Context, bag, frame int, p *picture.Picture) error {
	if bag%5 == 2 || bag/4 == 2 {
		return fmt.Errorf("scene %d: %w", bag, loader.ErrCorrupt)
	}
	return s.Source.Read(ctx, bag, frame, p)
}

// judged returns what a caller of the package sees of a set: scores, left-out bags and measures, as printed.
func judged(on ranks.Group, net *model.Net, set *loader.Set, config loader.Config) ([]byte, error) {
	scores, err := ScoreTogether(context.Background(), on, net, set, config, nil)
	if err != nil {
		return nil, err
	}
	result, err := Evaluate(scores, set, set, eval.Options{})
	if err != nil {
		return nil, err
	}
	measures, err := json.Marshal(result)
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s\n%v\n%x\n%x\n%x\n%v\n", measures, scores.Index, scores.Logits.Float32s(),
		scores.Prob.Float32s(), scores.Observed.Float32s(), scores.Rates)
	for _, b := range scores.Bad {
		fmt.Fprintln(&out, b.Bag, b.ID, b.Err, errors.Is(b.Err, loader.ErrCorrupt))
	}
	return out.Bytes(), err
}

// Whatever is left out or missing: pictures that are broken, a batch of nothing else, batches for some ranks alone, and
// rows of clips that are scored by their frames.
func TestScoreTogether_EqualInEveryBitWhateverIsLeftOut(t *testing.T) {
	skipRanks(t)
	for name, change := range map[string]func(*loader.Set, *loader.Config){
		"broken pictures": func(s *loader.Set, c *loader.Config) {
			s.Source, c.MaxBadSamples = spoilt{s.Source}, 38
		},
		"fewer batches than ranks": func(_ *loader.Set, c *loader.Config) { c.BatchSize = 20 },
		"one batch":                func(_ *loader.Set, c *loader.Config) { c.BatchSize = 38 },
		"by their frames": func(s *loader.Set, c *loader.Config) {
			s.Source, s.ByFrame, c.MaxBadSamples = spoilt{s.Source}, true, 100
		},
	} {
		of := raggedNets(t, 4)
		for _, set := range of.sets {
			config := of.config
			if change(set, &config); set == of.sets[3] {
				of.config = config
			}
		}
		want, err := judged(nil, of.nets[0], of.sets[0], of.config)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for n := 2; n <= 4; n++ {
			for rank, err := range scoreOnRanks(t, n, func(g ranks.Group) error {
				got, err := judged(g, of.nets[g.Rank()], of.sets[g.Rank()], of.config)
				if err == nil && !bytes.Equal(got, want) {
					err = fmt.Errorf("it has\n%.600s\nand one process\n%.600s", got, want)
				}
				return err
			}) {
				if err != nil {
					t.Errorf("%s, rank %d of %d: %v", name, rank, n, err)
				}
			}
		}
	}
}

// The limit on left-out bags counts the bags of all ranks together, and the error equals the error of one
// process.
func TestScoreTogether_TooManyBadSamplesAreCountedOverAllRanks(t *testing.T) {
	of := raggedNets(t, 3)
	for _, set := range of.sets {
		set.Source = spoilt{set.Source}
	}
	for allowed := range 8 {
		of.config.MaxBadSamples = allowed
		_, want := judged(nil, of.nets[0], of.sets[0], of.config)
		if want == nil {
			t.Fatalf("%d bad samples are enough", allowed)
		}
		for rank, err := range scoreOnRanks(t, 3, func(g ranks.Group) error {
			_, err := judged(g, of.nets[g.Rank()], of.sets[g.Rank()], of.config)
			return err
		}) {
			if err == nil || err.Error() != want.Error() || !errors.Is(err, loader.ErrCorrupt) {
				t.Errorf("%d allowed, rank %d: %v, want %v", allowed, rank, err, want)
			}
		}
	}
}

// unread are scenes with a bag that cannot be read for a reason other than its picture.
type unread struct {
	loader.Source
	bag int
}

var errCable = errors.New("the cable is out")

func (u unread) Frames(bag int) int { return u.Source.Frames(bag) }

func (u unread) Read(ctx context.Context, bag, frame int, p *picture.Picture) error {
	if bag == u.bag {
		return errCable
	}
	return u.Source.Read(ctx, bag, frame, p)
}

// ended checks that the rank culprit has ended with its own error, and the others with an error that names
// it.
func ended(t *testing.T, what string, culprit int, errs []error, own error) {
	t.Helper()
	for rank, err := range errs {
		var lost *ranks.LostError
		switch {
		case rank == culprit && !errors.Is(err, own):
			t.Errorf("%s: rank %d: %v, want %v", what, rank, err, own)
		case rank != culprit && (!errors.As(err, &lost) || lost.Rank != culprit || lost.Name == ""):
			t.Errorf("%s: rank %d: %v, want an error that names rank %d", what, rank, err, culprit)
		}
	}
}

func TestScoreTogether_AnErrorOfOneRankEndsAll(t *testing.T) {
	of := raggedNets(t, 3)
	source := of.sets[0].Source
	for bag := 1; bag < 38; bag += 5 { // 10 batches of 4
		culprit := 2
		for batch := bag / 4; culprit*10/3 > batch; {
			culprit--
		}
		of.sets[culprit].Source = unread{source, bag}
		ended(t, fmt.Sprintf("bag %d", bag), culprit, scoreOnRanks(t, 3, func(g ranks.Group) error {
			_, err := judged(g, of.nets[g.Rank()], of.sets[g.Rank()], of.config)
			return err
		}), errCable)
		of.sets[culprit].Source = source
	}
}
