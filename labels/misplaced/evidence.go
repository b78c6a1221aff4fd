package misplaced

import (
	"context"

	"nmn/internal/parallel"
)

// Evidence returns, for each bag and class, the log likelihood ratio of the captions between a word that
// holds and one that does not: E = sum over captions of r log p(mentioned or not | y=1)/p(... | y=0), bags ×
// classes in nats.
func (r *Result) Evidence(ctx context.Context) ([]float32, error) {
	f, k := r.finder, r.finder.in.Classes
	w := f.words
	out := make([]float32, len(f.in.Captions)*k)
	err := parallel.Run(ctx, len(f.in.Captions), f.threads, func() func(int) {
		return func(n int) {
			votes, row := f.votes[f.first[n]:f.first[n+1]], out[n*k:(n+1)*k]
			trusted := 0.0
			for _, v := range votes {
				trusted += v
			}
			for c := range row {
				row[c] = float32(trusted * w.absent[c])
			}
			for c, caption := range f.in.Captions[n] {
				for _, class := range caption {
					row[class] += float32(votes[c] * (w.present[class] - w.absent[class]))
				}
			}
		}
	})
	return out, err
}
