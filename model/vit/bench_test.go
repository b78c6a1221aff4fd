package vit

import (
	"fmt"
	"testing"
)

// BenchmarkForward takes pictures of 224 pixels through a ViT-S/14 and a ViT-B/16.
func BenchmarkForward(b *testing.B) {
	for _, net := range []struct {
		name                                   string
		width, depth, hidden, patch, positions int
	}{{"S14", 384, 12, 1536, 14, 257}, {"B16", 768, 12, 3072, 16, 197}} {
		for _, pictures := range []int{1, 8, 32} {
			b.Run(fmt.Sprintf("%s/%d", net.name, pictures), func(b *testing.B) {
				c, _, err := Recognise(timmNames(net.width, net.depth, net.hidden, net.patch, net.positions))
				if err != nil {
					b.Fatal(err)
				}
				n, err := New(c, openCPU(b, 0))
				if err != nil {
					b.Fatal(err)
				}
				defer func() { _ = n.Close() }()
				p := upload(b, n, noise(c, pictures))
				for b.Loop() {
					if err := n.Forward(p); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N*pictures)*1e3, "ms/picture")
				b.ReportMetric(float64(n.Bytes())/1e6, "MB")
			})
		}
	}
}
