package paper

import (
	"context"
	"fmt"
	"time"

	"nmn/internal/setting"
	"nmn/paper/claims"
	"nmn/run"
)

// FolderSeeds returns the seeds of the reproduction in a folder, or nil if there is none.
func FolderSeeds(dir string) ([]uint64, error) {
	there, err := readPlan(dir)
	if there == nil || err != nil {
		return nil, err
	}
	return there.Settings.Seeds, nil
}

// Fit is New with as many of the seeds 1, 2, 3, ... as the estimate has time for, from claims.FewestSeeds to
// claims.MostSeeds. If nothing is trained it takes the fewest. A time that is too short is a *setting.Error.
func Fit(ctx context.Context, s Settings, o Options, limit time.Duration) (*Plan, error) {
	s.Seeds = firstSeeds(claims.FewestSeeds)
	p, err := New(s)
	if err != nil {
		return nil, err
	}
	return p, p.fit(ctx, &o, limit)
}

// fit adds seeds to a plan of the fewest.
func (p *Plan) fit(ctx context.Context, o *Options, limit time.Duration) error {
	e, err := p.estimate(ctx, o, true)
	if err != nil {
		return err
	}
	if e.Time > limit {
		return setting.Errorf("seeds", "reproduce: `reproduce.seeds` auto:%v is less than the %v that %d seeds take by "+
			"the estimate: give that much time, fewer parts, or the seeds themselves", limit, rounded(e.Time),
			claims.FewestSeeds)
	}
	var whole time.Duration // of the fewest seeds, were none complete
	for i := range e.Units {
		whole += e.Units[i].whole
	}
	n := claims.FewestSeeds
	if each := whole / claims.FewestSeeds; each > 0 {
		more := min((limit-e.Time)/each, claims.MostSeeds-claims.FewestSeeds)
		n, e.Time = n+int(more), e.Time+more*each
	}
	p.setSeeds(firstSeeds(n))
	if o.Notify != nil {
		o.Notify(run.Message{Topic: "seeds", Text: fmt.Sprintf("1 to %d, in about %v of %v", n, rounded(e.Time), limit)})
	}
	return nil
}

func firstSeeds(n int) []uint64 {
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = uint64(i + 1)
	}
	return seeds
}

func (p *Plan) setSeeds(seeds []uint64) {
	p.Settings.Seeds = seeds
	for i := range p.Units {
		g := p.Units[i].Grid
		if e := p.Units[i].Captions; e != nil {
			e.Seeds, g = seeds, e.Videos
		}
		if g != nil {
			g.Seeds = seeds
		}
	}
}

// rounded is a time for messages, in whole seconds that are not less.
func rounded(d time.Duration) time.Duration { return (d + time.Second - 1).Truncate(time.Second) }
