package train

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nmn/eval"
	"nmn/group"
	"nmn/group/local"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/model"
)

// patience is how long a rank waits for another one in the tests.
const patience = time.Hour

// scoreOnRanks runs f on each of n ranks and returns its errors. No goroutine may be left afterwards.
func scoreOnRanks(t *testing.T, n int, f func(g group.Group) error) []error {
	t.Helper()
	before := runtime.NumGoroutine()
	errs := make([]error, n)
	var all sync.WaitGroup
	for i, g := range local.New(n, patience) {
		all.Go(func() { errs[i] = f(g) })
	}
	all.Wait()
	for runtime.NumGoroutine() > before { // until the test's own deadline, which shows what is left
		time.Sleep(time.Millisecond) // those that are inside a picture end by themselves
	}
	return errs
}

// netsOf are as many equal nets with a set for each, as ragged makes them.
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

// spoilt are scenes of which some cannot be read: each fifth, and the four of one batch.
type spoilt struct{ loader.Source }

func (s spoilt) Frames(bag int) int { return s.Source.Frames(bag) }

func (s spoilt) Read(ctx context.Context, bag, frame int, p *picture.Picture) error {
	if bag%5 == 2 || bag/4 == 2 {
		return fmt.Errorf("scene %d: %w", bag, loader.ErrCorrupt)
	}
	return s.Source.Read(ctx, bag, frame, p)
}

// judged is what a user of the package gets of a set: scores, left-out bags and measures, as they are printed.
func judged(on Passes, net *model.Net, set *loader.Set, config loader.Config) ([]byte, error) {
	scores, err := on.Score(context.Background(), net, set, config)
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

func TestPasses_EveryRankHasWhatOneProcessHas(t *testing.T) {
	of := raggedNets(t, 4)
	want := asUsers(t, Passes{}, of.nets[0], of.sets[0], of.config)
	for n := 1; n <= 4; n++ {
		for rank, err := range scoreOnRanks(t, n, func(g group.Group) error {
			i := g.Rank()
			for result, got := range asUsers(t, Passes{g}, of.nets[i], of.sets[i], of.config) {
				if !slices.Equal(got, want[result]) {
					t.Errorf("rank %d of %d: result %d differs", i, n, result)
				}
			}
			return nil
		}) {
			if err != nil {
				t.Errorf("rank %d of %d: %v", rank, n, err)
			}
		}
	}
}

// Whatever is left out or missing: pictures that are broken, a batch of nothing else, batches for some ranks alone, and
// rows of clips that are scored by their frames.
func TestPasses_EqualInEveryBitWhateverIsLeftOut(t *testing.T) {
	for name, change := range map[string]func(*loader.Set, *loader.Config){
		"broken pictures": func(s *loader.Set, c *loader.Config) {
			s.Source, c.MaxBadSamples = spoilt{s.Source}, 38
		},
		"fewer batches than ranks": func(_ *loader.Set, c *loader.Config) { c.BatchBags = 20 },
		"one batch":                func(_ *loader.Set, c *loader.Config) { c.BatchBags = 38 },
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
		want, err := judged(Passes{}, of.nets[0], of.sets[0], of.config)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for n := 2; n <= 4; n++ {
			for rank, err := range scoreOnRanks(t, n, func(g group.Group) error {
				got, err := judged(Passes{g}, of.nets[g.Rank()], of.sets[g.Rank()], of.config)
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

// The limit on bags that are left out is that of all ranks together, and the error is that of one process.
func TestPasses_TooManyBadSamplesAreCountedOverAllRanks(t *testing.T) {
	of := raggedNets(t, 3)
	for _, set := range of.sets {
		set.Source = spoilt{set.Source}
	}
	for allowed := range 8 {
		of.config.MaxBadSamples = allowed
		_, want := judged(Passes{}, of.nets[0], of.sets[0], of.config)
		if want == nil {
			t.Fatalf("%d bad samples are enough", allowed)
		}
		for rank, err := range scoreOnRanks(t, 3, func(g group.Group) error {
			_, err := judged(Passes{g}, of.nets[g.Rank()], of.sets[g.Rank()], of.config)
			return err
		}) {
			if err == nil || err.Error() != want.Error() || !errors.Is(err, loader.ErrCorrupt) {
				t.Errorf("%d allowed, rank %d: %v, want %v", allowed, rank, err, want)
			}
		}
	}
}

// unread are scenes of which one cannot be read for a reason that is not the picture's.
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

// ended checks that the first of some ranks has ended with an error of its own, and the others with one that names it.
func ended(t *testing.T, what string, culprit int, errs []error, own error) {
	t.Helper()
	for rank, err := range errs {
		var lost *group.LostError
		switch {
		case rank == culprit && !errors.Is(err, own):
			t.Errorf("%s: rank %d: %v, want %v", what, rank, err, own)
		case rank != culprit && (!errors.As(err, &lost) || lost.Rank != culprit || lost.Name == ""):
			t.Errorf("%s: rank %d: %v, want an error that names rank %d", what, rank, err, culprit)
		}
	}
}

func TestPasses_AnErrorOfOneRankEndsAll(t *testing.T) {
	of := raggedNets(t, 3)
	source := of.sets[0].Source
	for bag := 1; bag < 38; bag += 5 { // 10 batches of 4
		culprit := bag / 4 % 3
		of.sets[culprit].Source = unread{source, bag}
		ended(t, fmt.Sprintf("bag %d", bag), culprit, scoreOnRanks(t, 3, func(g group.Group) error {
			_, err := judged(Passes{g}, of.nets[g.Rank()], of.sets[g.Rank()], of.config)
			return err
		}), errCable)
		of.sets[culprit].Source = source
	}
}

func TestPasses_AnInterruptOfOneRankEndsAll(t *testing.T) {
	of := raggedNets(t, 4)
	for stop := range 11 { // batches are shown before it
		culprit := (stop * 7) % 4
		ended(t, fmt.Sprintf("after %d batches", stop), culprit, scoreOnRanks(t, 4, func(g group.Group) error {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			shown := 0
			visit := func(int) {
				if shown++; g.Rank() == culprit && shown >= stop {
					cancel()
				}
			}
			if stop == 0 && g.Rank() == culprit {
				cancel()
			}
			_, err := Passes{g}.score(ctx, of.nets[g.Rank()], of.sets[g.Rank()], of.config, visit)
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("after %d batches: rank %d: %v, want an interruption", stop, g.Rank(), err)
			}
			return err
		}), context.Canceled)
	}
}

// A rank that cannot write ends the others, also where it was the last row.
func TestPasses_AFailedWriteOfOneRankEndsAll(t *testing.T) {
	of := raggedNets(t, 3)
	full := errors.New("no space left")
	for _, at := range []int{0, 17, 37} {
		var written atomic.Int32
		ended(t, fmt.Sprintf("row %d", at), 0, scoreOnRanks(t, 3, func(g group.Group) error {
			_, err := Passes{g}.Extract(t.Context(), of.nets[g.Rank()], of.sets[g.Rank()], of.config,
				[]model.Layer{model.Pool5}, func(bag int, _ [][]float32) error {
					if g.Rank() > 0 {
						return nil
					}
					if bag == at {
						return full
					}
					written.Add(1)
					return nil
				})
			return err
		}), full)
		if int(written.Load()) != at {
			t.Errorf("%d rows were written before row %d failed", written.Load(), at)
		}
	}
}

// A rank that cannot begin says so, instead of having the others wait for it.
func TestPasses_ARankThatCannotBeginEndsAll(t *testing.T) {
	of := raggedNets(t, 3)
	other := noisy(t, model.NoNoise, 2, 3)
	of.nets[1] = other
	ended(t, "another net", 1, scoreOnRanks(t, 3, func(g group.Group) error {
		_, err := Passes{g}.Score(t.Context(), of.nets[g.Rank()], of.sets[g.Rank()], of.config)
		return err
	}), ErrOtherModel)
	for rank, err := range scoreOnRanks(t, 3, func(g group.Group) error {
		_, err := Passes{g}.Extract(t.Context(), of.nets[g.Rank()], of.sets[g.Rank()], of.config,
			[]model.Layer{model.FC7}, func(int, [][]float32) error { return nil })
		return err
	}) {
		if err == nil || rank != 1 && !strings.HasPrefix(err.Error(), "rank 1 (goroutine 1): ") {
			t.Errorf("no layer to extract: rank %d: %v", rank, err)
		}
	}
}

func TestPasses_RanksWithOtherWeightsSayWhich(t *testing.T) {
	of := raggedNets(t, 3)
	for _, wrong := range []bool{false, true} {
		if wrong {
			p := of.nets[2].Params()[0]
			values, err := of.nets[2].Values(p)
			check(t, err)
			values[0] = math.Nextafter32(values[0], 9)
			check(t, of.nets[2].SetValues(p, values))
		}
		for rank, err := range scoreOnRanks(t, 3, func(g group.Group) error { return Passes{g}.SameNet(of.nets[g.Rank()]) }) {
			if wrong != errors.Is(err, ErrOtherModel) || wrong && !strings.Contains(err.Error(), "rank 2 (goroutine 2) has") {
				t.Errorf("wrong: %t, rank %d: %v", wrong, rank, err)
			}
		}
	}
}

// Other data, which the ranks have compared long before, are no reason to wait for each other.
func TestPasses_RanksWithOtherDataSayWhich(t *testing.T) {
	of := raggedNets(t, 2)
	of.sets[1] = sceneSet(t, "train", 30)
	of.sets[1].Source = films{of.sets[1].Source}
	for rank, err := range scoreOnRanks(t, 2, func(g group.Group) error {
		_, err := Passes{g}.Score(t.Context(), of.nets[g.Rank()], of.sets[g.Rank()], of.config)
		return err
	}) {
		if err == nil || !strings.Contains(err.Error(), "they have other data") {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

func TestMessage_IsReadAsItWasWritten(t *testing.T) {
	want := message{status: []byte("."), round: 3, batches: 1 << 20,
		bad:  []loader.BadSample{{Bag: 7, ID: "a\xff", Err: badThere("no picture")}},
		bags: []int{1, 300, 70000}, ids: []string{"", "b", "cc"}}
	results := [][]float32{{1, -2.5, 3}, {}, {0.25}}
	data := want.append(nil, results)[group.LongPrefix:]
	var got message
	check(t, got.read(data))
	var s shared
	if of := s.values(&got); !reflect.DeepEqual(of, results) {
		t.Errorf("results %v, want %v", of, results)
	}
	got.results, want.lengths = nil, []int{3, 0, 1}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for n := range data {
		if got.read(data[:n]) == nil {
			t.Errorf("%d bytes of %d are read", n, len(data))
		}
	}
}

func FuzzMessage(f *testing.F) {
	m := message{status: []byte("."), bad: []loader.BadSample{{Bag: 1, ID: "b", Err: badThere("c")}}, bags: []int{1},
		ids: []string{"d"}}
	f.Add(m.append(nil, [][]float32{{1}, {2, 3}})[group.LongPrefix:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		var m message
		if m.read(data) == nil {
			var s shared
			s.values(&m)
		}
	})
}
