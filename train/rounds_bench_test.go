package train

import (
	"fmt"
	"sync"
	"testing"

	"nmn/group/local"
)

// What the ranks of one process pay for a round: 16 bags of each rank with logits and probabilities of 1,000 words.
func BenchmarkRound(b *testing.B) {
	const bags, words = 16, 1000
	for _, n := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("ranks=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			var all sync.WaitGroup
			for _, g := range local.New(n, patience) {
				all.Go(func() {
					x, own := exchange{group: g}, message{}
					for i := range bags {
						own.bags, own.ids = append(own.bags, i), append(own.ids, "a picture")
					}
					var theirs shared
					results := [][]float32{make([]float32, bags*words), make([]float32, bags*words),
						make([]float32, bags*words)}
					for range b.N {
						if err := x.tell(&own, results, nil); err != nil {
							b.Error(err)
							return
						}
						for i := range x.heard {
							theirs.values(&x.heard[i])
						}
					}
				})
			}
			all.Wait()
		})
	}
}
