package scenes

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"nmn/loader"
	"nmn/loader/picture"
)

func TestMake_HasNoFiles(t *testing.T) {
	set, err := Make(Config{Seed: 1, Split: "train", N: 2})
	check(t, err)
	if _, err := loader.ReadEncoded(t.Context(), set.Source, 0, 0, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v, want that it is not supported", err)
	}
}

func BenchmarkLoader(b *testing.B) {
	for _, cache := range []bool{false, true} {
		b.Run(fmt.Sprintf("cache=%v", cache), func(b *testing.B) {
			set, err := Make(Config{Seed: 1, Split: "train", N: 3200, Cache: cache})
			check(b, err)
			config := loader.DefaultConfig()
			config.Size, config.Fit = pictureSize, picture.FitNone
			l, err := loader.New(set, config)
			check(b, err)
			b.ReportAllocs()
			epoch := 0
			for b.Loop() {
				e, err := l.Epoch(context.Background(), epoch, 0)
				check(b, err)
				for batch, err := e.Next(context.Background()); err == nil; batch, err = e.Next(context.Background()) {
					batch.Release()
				}
				e.Close()
				epoch++
			}
			b.ReportMetric(float64(epoch*3200)/b.Elapsed().Seconds(), "images/s")
		})
	}
}
