package jpeg

import (
	"os"
	"path/filepath"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels/simd"
)

// photographs are the files of coco-images in the folder that NMN_DATA names.
func photographs(t testing.TB) (all [][]byte) {
	t.Helper()
	folder := os.Getenv("NMN_DATA")
	if folder == "" {
		t.Skip("NMN_DATA names no folder: skipping the photographs of coco-images")
	}
	files, err := filepath.Glob(filepath.Join(folder, "coco-images", "*.jpg"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no photograph in %s: %v", folder, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		expect.OK(t, err)
		all = append(all, data)
	}
	return all
}

// One core, a photograph at a time, the files in memory.
func BenchmarkPhotographs(b *testing.B) {
	all := photographs(b)
	for _, level := range simd.Levels() {
		b.Run("simd="+level.String(), func(b *testing.B) {
			d, rgb, i := &Decoder{Level: level}, make([]uint8, 4<<20), 0
			b.ReportAllocs()
			for b.Loop() {
				data := all[i%len(all)]
				width, height, err := d.Header(data)
				expect.OK(b, err)
				expect.OK(b, d.Decode(rgb[:3*width*height]))
				i++
			}
		})
	}
}
