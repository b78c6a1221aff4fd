package metrics

import (
	"context"
	"path/filepath"
	"testing"

	"nmn/internal/expect"
)

// BenchmarkEvaluate scores 5,000 captions with their references on one core.
func BenchmarkEvaluate(b *testing.B) {
	items, dir := fakecap(b)
	for len(items) < 5000 {
		items = append(items, items[:min(1000, 5000-len(items))]...)
	}
	m, err := LoadMeteor(filepath.Join(dir, "meteor-data"))
	expect.OK(b, err)
	for b.Loop() {
		if _, err := Evaluate(context.Background(), items, m); err != nil {
			b.Fatal(err)
		}
	}
}
