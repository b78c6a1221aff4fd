package captioning

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nmn/eval/caption"
	"nmn/group"
	"nmn/group/local"
	"nmn/group/local/localtest"
	"nmn/model/s2vt"
	"nmn/train"
)

// outcome is what a rank has after a training.
type outcome struct {
	weights  []float32
	losses   []float64
	scores   []float64
	position Position
	best     Best
	err      error
}

// learnOn trains a rig on n ranks; change, where set, changes the options of one.
func learnOn(t *testing.T, r rig, n int, change func(g group.Group, o *Options) context.Context) []outcome {
	t.Helper()
	all := make([]outcome, n)
	localtest.Each(n, func(g group.Group) {
		out, o, ctx := &all[g.Rank()], r.options(t), t.Context()
		o.Group = g
		o.Observers = append(slices.Clone(o.Observers), Observer{
			Step: func(e StepDone) {
				out.losses = append(out.losses, e.Loss, e.GradNorm, float64(e.Words), float64(e.Captions))
			},
			Evaluated: func(e Evaluated) { out.scores = append(out.scores, e.CIDEr) },
		})
		if r.directory != "" && g.Rank() > 0 {
			o.Directory = t.TempDir()
		}
		if change != nil {
			if own := change(g, &o); own != nil {
				ctx = own
			}
		}
		trainer, err := New(o)
		if err != nil {
			out.err = err
			return
		}
		defer func() { check(t, trainer.Close()) }()
		if last := filepath.Join(r.directory, train.LastName); r.directory != "" && resumes(r, g) {
			if out.err = trainer.Resume(last); out.err != nil {
				return
			}
		}
		result, err := trainer.Run(ctx)
		out.position, out.best, out.err = result.Position, result.Best, err
		out.weights = weights(t, o.Net)
		if _, err := g.Gather(nil); err != nil { // nobody leaves before all are done
			t.Errorf("rank %d at the end: %v", g.Rank(), err)
		}
	})
	return all
}

// resumes reports whether rank 0 has a checkpoint to go on from.
func resumes(r rig, g group.Group) bool {
	there := []byte{0}
	if _, err := frame.Read(filepath.Join(r.directory, train.LastName)); g.Rank() == 0 && err == nil {
		there[0] = 1
	}
	return g.Broadcast(there) == nil && there[0] == 1
}

// apart is the distance of two lists of numbers, relative to the norm of the first.
func apart(a, b []float32) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	distance, norm := 0.0, 0.0
	for i := range a {
		distance += float64(a[i]-b[i]) * float64(a[i]-b[i])
		norm += float64(a[i]) * float64(a[i])
	}
	return math.Sqrt(distance / max(norm, 1e-12))
}

func sameOutcome(t *testing.T, who string, a, b outcome) {
	t.Helper()
	if !slices.Equal(a.weights, b.weights) || !slices.Equal(a.losses, b.losses) || !slices.Equal(a.scores, b.scores) ||
		a.position != b.position || a.best != b.best {
		t.Errorf("%s differ: %+v, %+v", who, a.position, b.position)
	}
}

func TestRanks_LearnWhatOneRankLearns(t *testing.T) {
	for name, change := range map[string]func(*rig){
		"adam":                   func(*rig) {},
		"sgd, clipping, dropout": func(r *rig) { r.config.Optimizer, r.config.LearningRate, r.dropout = train.SGD, .1, .3 },
		"dropout, adamw":         func(r *rig) { r.config.Optimizer, r.config.WeightDecay, r.dropout = train.AdamW, .01, .5 },
		"more ranks than captions": func(r *rig) {
			r.config.Batch, r.config.Optimizer, r.config.LearningRate = 2, train.SGD, .1 // the last batch has one
		},
		"one batch": func(r *rig) { r.config.Batch = 64 },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig()
			r.config.Epochs, r.config.MaxSteps, r.config.LearningRate = 0, 20, .001
			change(&r)
			alone := learnOn(t, r, 1, nil)[0]
			check(t, alone.err)
			for ranks := 2; ranks <= 4; ranks++ {
				all := learnOn(t, r, ranks, nil)
				for rank, got := range all {
					check(t, got.err)
					if d := apart(alone.weights, got.weights); !(d <= 1e-5) {
						t.Errorf("rank %d of %d: weights are apart by %.3g of their norm", rank, ranks, d)
					}
					sameOutcome(t, fmt.Sprintf("rank 0 and %d of %d", rank, ranks), all[0], got)
					p, q := alone.position, got.position
					if math.Abs(p.LossSum-q.LossSum) > 1e-5*p.LossSum {
						t.Errorf("%d ranks: loss %v, alone %v", ranks, q.LossSum, p.LossSum)
					}
					if p.LossSum, q.LossSum = 0, 0; p != q {
						t.Errorf("%d ranks: position %+v, alone %+v", ranks, q, p)
					}
				}
				sameOutcome(t, "two runs", all[0], learnOn(t, r, ranks, nil)[0])
			}
		})
	}
}

// Shares are whole captions that make up the batch, nearly as many words for each rank.
func TestRanks_ShareCaptionsByWords(t *testing.T) {
	samples := []int{10, 11, 12, 13, 14, 15, 16, 17, 18, 19}
	words := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10} // of each
	for ranks := 1; ranks <= 4; ranks++ {
		var all []int
		for _, g := range local.New(ranks, time.Hour) {
			r := newRanks(g)
			own, said := r.deal(samples), 0
			for _, s := range own {
				said += words[s-10]
			}
			if len(own) > r.most(len(samples)) || math.Abs(float64(said)-55/float64(ranks)) > 5 {
				t.Errorf("%d ranks: %v with %d words", ranks, own, said)
			}
			all = append(all, own...)
		}
		if slices.Sort(all); !slices.Equal(all, samples) {
			t.Errorf("%d ranks share %v", ranks, all)
		}
	}
}

// judged is a rig that generates and scores captions on ranks after each epoch.
func judged(t *testing.T) (rig, func(group.Group, *Options)) {
	r, set := newRig(), judgedSet(t)
	r.config.ValidateEpochs, r.config.Epochs, r.dropout, r.config.Patience = 1, 4, .2, 3
	return r, func(g group.Group, o *Options) {
		j := Judge{Words: o.Words, Data: set, Generation: DefaultGeneration(), Group: g}
		j.Generation.Batch = 2
		o.Validate = func(ctx context.Context, net *s2vt.Net) (float64, error) {
			result, _, err := j.Score(ctx, net)
			if err != nil {
				return 0, err
			}
			return result.All.CIDErD, nil
		}
	}
}

// Captions and their scores are those of one rank in every bit.
func TestRanks_JudgeAsOneRankDoes(t *testing.T) {
	set := judgedSet(t)
	for _, width := range []int{1, 3} {
		var want []Generated
		for ranks := 1; ranks <= 4; ranks++ {
			results := make([]string, ranks)
			localtest.Each(ranks, func(g group.Group) {
				o := newRig().options(t)
				j := Judge{Words: o.Words, Data: set, Generation: DefaultGeneration(), Group: g}
				j.Generation.Batch, j.Search.Width = 2, width
				result, generated, err := j.Score(t.Context(), o.Net)
				if err != nil {
					t.Error(err)
					return
				}
				if ranks == 1 {
					want = generated
				}
				if !slices.Equal(generated, want) {
					t.Errorf("%d ranks: %v, want %v", ranks, generated, want)
				}
				results[g.Rank()] = fmt.Sprintf("%v", result.All)
				_, _ = g.Gather(nil)
			})
			if len(slices.Compact(results)) != 1 {
				t.Errorf("%d ranks have the scores %v", ranks, results)
			}
		}
	}
}

// A training that was interrupted on one rank ends on all at the same step, is saved by rank 0, and goes on with another
// number of ranks.
func TestRanks_EndTogetherAndResumeWithAnyNumber(t *testing.T) {
	r, judge := judged(t)
	r.directory = t.TempDir()
	whole := learnOn(t, r, 1, func(g group.Group, o *Options) context.Context { judge(g, o); return nil })[0]
	check(t, whole.err)
	if len(whole.scores) == 0 || whole.best.Step == 0 {
		t.Fatalf("nothing was judged: %+v", whole)
	}
	r.directory = t.TempDir()
	for i, ranks := range []int{4, 2, 3, 1} {
		all := learnOn(t, r, ranks, func(g group.Group, o *Options) context.Context {
			judge(g, o)
			ctx, cancel := context.WithCancel(t.Context())
			steps := 0
			o.Observers = append(o.Observers, Observer{Step: func(StepDone) {
				if steps++; g.Rank() == ranks-1 && steps == 3 && i < 3 {
					cancel()
				}
			}})
			return ctx
		})
		for rank, got := range all {
			if i < 3 && !errors.Is(got.err, train.ErrInterrupted) || i == 3 && got.err != nil {
				t.Fatalf("%d ranks, rank %d: %v", ranks, rank, got.err)
			}
			if i < 3 && got.position.Step != 3*(i+1) {
				t.Errorf("%d ranks, rank %d ended after step %d", ranks, rank, got.position.Step)
			}
		}
		if i == 3 {
			if d := apart(whole.weights, all[0].weights); !(d <= 1e-5) {
				t.Errorf("weights are apart by %.3g of their norm from those of one rank", d)
			}
			if all[0].position.Step != whole.position.Step || all[0].best.Step != whole.best.Step {
				t.Errorf("%+v, best %+v; want %+v, best %+v", all[0].position, all[0].best, whole.position, whole.best)
			}
		}
	}
}

func TestRanks_TellEachOtherWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		change func(rank int, o *Options)
		says   string
	}{
		"features": {func(rank int, o *Options) {
			if rank == 1 {
				o.Data = withoutFeatures{o.Data}
			}
		}, "no features today"},
		"other data": {func(rank int, o *Options) {
			if rank == 1 {
				o.Data.(*reel).clips = 9
			}
		}, "rank 1"},
		"other weights": {func(rank int, o *Options) {
			if rank == 1 {
				_ = o.Net.Init(99)
			}
		}, "rank 1"},
		"validation": {func(rank int, o *Options) {
			o.Config.ValidateEpochs = 1
			o.Validate = func(context.Context, *s2vt.Net) (float64, error) {
				if rank == 1 {
					return 0, errors.New("nothing to see")
				}
				return 1, nil
			}
		}, "nothing to see"},
	} {
		for rank, got := range learnOn(t, newRig(), 3, func(g group.Group, o *Options) context.Context {
			c.change(g.Rank(), o)
			return nil
		}) {
			if got.err == nil || !strings.Contains(got.err.Error(), c.says) {
				t.Errorf("%s: rank %d: %v", name, rank, got.err)
			}
		}
	}
}

// withoutFeatures is a source whose features cannot be read.
type withoutFeatures struct{ Source }

func (u withoutFeatures) Features(int, []float32) error { return errors.New("no features today") }
func (u withoutFeatures) FrameCount(clip int) int       { return frameCount(u.Source, clip) }

// judgedSet are the clips of a reel with their captions as people wrote them.
func judgedSet(t *testing.T) *Set {
	t.Helper()
	data := newReel(t)
	said := &caption.Captions{Of: map[string][]string{}}
	for clip := range data.Clips() {
		id := data.ID(clip)
		said.IDs = append(said.IDs, id)
		for _, words := range data.Captions(clip) {
			said.Of[id] = append(said.Of[id], data.words.Caption(words))
		}
	}
	set, err := Join(data, said, data.words, JoinOptions{})
	check(t, err)
	return set
}
