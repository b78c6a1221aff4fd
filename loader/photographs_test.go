package loader

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"nmn/internal/expect"
	"nmn/kernels/simd"
	"nmn/loader/picture"
)

// photograph is a line of images.tsv.
type photograph struct {
	file          string
	width, height int
}

// photographs lists the real pictures in the folder that NMN_DATA names.
func photographs(t testing.TB) (folder string, list []photograph) {
	t.Helper()
	data := os.Getenv("NMN_DATA")
	if data == "" {
		t.Skip("NMN_DATA names no folder: skipping the photographs of coco-images")
	}
	folder = filepath.Join(data, "coco-images")
	file, err := os.Open(filepath.Join(folder, "images.tsv"))
	expect.OK(t, err)
	defer file.Close()
	reader := csv.NewReader(file)
	reader.Comma, reader.LazyQuotes = '\t', true
	rows, err := reader.ReadAll()
	expect.OK(t, err)
	for _, row := range rows[1:] {
		if _, err := os.Stat(filepath.Join(folder, row[1])); err != nil {
			continue // the table lists more than there are
		}
		width, errWidth := strconv.Atoi(row[3])
		height, errHeight := strconv.Atoi(row[4])
		if errWidth != nil || errHeight != nil {
			t.Fatalf("%q: no size", row)
		}
		list = append(list, photograph{row[1], width, height})
	}
	if len(list) == 0 {
		t.Fatalf("no photograph in %s", folder)
	}
	return folder, list
}

func TestPhotographs_DecodeWithTheirSizes(t *testing.T) {
	folder, list := photographs(t)
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.file
	}
	source := newTestSource(t, folder, names...)
	var pic picture.Picture
	for i, p := range list {
		if err := source.Read(context.Background(), i, 0, &pic); err != nil {
			t.Error(err)
		} else if pic.Width != p.width || pic.Height != p.height {
			t.Errorf("%s is %d×%d, the table says %d×%d", p.file, pic.Width, pic.Height, p.width, p.height)
		}
	}
	t.Logf("%d photographs", len(list))
}

// One core: the whole way of a photograph to the canvas, without and with the resizing.
func BenchmarkPhotographs(b *testing.B) {
	folder, list := photographs(b)
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = p.file
	}
	source, err := NewFileSource(folder, names)
	expect.OK(b, err)
	levels := simd.Levels()
	for name, c := range map[string]struct {
		size int
		fit  picture.Fit
	}{"to=decoded": {0, picture.FitNone}, "to=565": {565, picture.FitLongest}, "to=224": {224, picture.FitSquare}} {
		b.Run(name, func(b *testing.B) {
			pic := picture.Picture{Level: levels[len(levels)-1]}
			resizer := picture.NewResizer(pic.Level)
			canvas := make([]uint8, c.size*c.size*3)
			i := 0
			for b.Loop() {
				expect.OK(b, source.Read(context.Background(), i%len(names), 0, &pic))
				if c.size > 0 {
					if _, _, err := resizer.Place(canvas, c.size, &pic, c.fit); err != nil {
						b.Fatal(err)
					}
				}
				i++
			}
			b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "images/s")
		})
	}
}
