package train

import (
	"errors"
	"math"
	"slices"
	"testing"

	"nmn/internal/expect"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/model"
	"nmn/model/backbone"

	dense "gorgonia.org/tensor"
)

// meansNet returns the means of a picture's channels, and counts the pictures of the largest batch.
type meansNet struct {
	info   backbone.Info
	most   int
	broken bool
}

func newMeansNet() *meansNet {
	pictures := picture.TorchvisionPreprocessing().At(24)
	return &meansNet{info: backbone.Info{Name: "means", Pictures: pictures,
		Layers: []backbone.Layer{{Name: "cls", Width: 3}}}}
}

func (n *meansNet) Info() *backbone.Info { return &n.info }
func (n *meansNet) Close() error         { return nil }

func (n *meansNet) Features(pixels *dense.Dense, _ []model.Layer, rows [][]float32) error {
	count, values := pixels.Shape()[0], pixels.Uint8s()
	n.most = max(n.most, count)
	for i := range count {
		for c := range 3 {
			sum := 0
			for at := range 24 * 24 {
				sum += int(values[(i*24*24+at)*3+c])
			}
			rows[0][3*i+c] = float32(sum) / (24 * 24)
		}
	}
	if n.broken {
		rows[0][3*count-1] = float32(math.Inf(1))
	}
	return nil
}

// featuresOf takes features in batches.
func featuresOf(t *testing.T, batch int, set *loader.Set) (rows [][]float32, net *meansNet) {
	t.Helper()
	l := loader.DefaultConfig()
	l.BatchSize, net = batch, newMeansNet()
	_, err := Features(t.Context(), net, set, l, []model.Layer{"cls"}, func(bag int, r [][]float32) error {
		if bag != len(rows) {
			t.Errorf("bag %d comes as row %d", bag, len(rows))
		}
		rows = append(rows, slices.Clone(r[0]))
		return nil
	})
	check(t, err)
	return rows, net
}

func TestFeatures_AreTheSameInBatches(t *testing.T) {
	set := sceneSet(t, "train", 19)
	want, _ := featuresOf(t, 19, set)
	if len(want) != 19 || want[3][0] == want[4][0] {
		t.Fatalf("%d rows, and some are equal", len(want))
	}
	if rows, _ := featuresOf(t, 4, set); !slices.EqualFunc(rows, want, slices.Equal) {
		t.Error("batches of 4 have other features")
	}
}

func TestFeatures_OfABagOfFramesAreTheirMean(t *testing.T) {
	set := sceneSet(t, "train", 7)
	set.Source = films{set.Source}
	single, _, err := loader.Frames(t.Context(), set)
	expect.OK(t, err)
	got, net := featuresOf(t, 3, set)
	frames, _ := featuresOf(t, 3, single)
	if net.most > 3 {
		t.Errorf("%d frames went through the net at once, want at most 3", net.most)
	}
	at := 0
	for bag, row := range got {
		n := set.Source.Frames(bag)
		for c := range row {
			mean := 0.0
			for f := range n {
				mean += float64(frames[at+f][c]) / float64(n)
			}
			if off := math.Abs(mean - float64(row[c])); !(off < 1e-4) {
				t.Fatalf("bag %d of %d frames: %v, off by %g", bag, n, row, off)
			}
		}
		at += n
	}
}

func TestFeatures_Errors(t *testing.T) {
	set, net, l := sceneSet(t, "train", 5), newMeansNet(), loader.DefaultConfig()
	full := errors.New("the disk is full")
	rows := 0
	_, err := Features(t.Context(), net, set, l, []model.Layer{"cls"}, func(int, [][]float32) error {
		rows++
		return full
	})
	if !errors.Is(err, full) || rows != 1 {
		t.Errorf("%v after %d rows, want the writer's error at once", err, rows)
	}
	none := func(int, [][]float32) error { t.Error("a row is written"); return nil }
	expect.Refusal(t, expect.ErrorOf(Features(t.Context(), net, set, l, []model.Layer{"fc7"}, none)), "it has cls")
	net.broken = true
	expect.Refusal(t, expect.ErrorOf(Features(t.Context(), net, set, l, []model.Layer{"cls"}, none)), set.IDs[4])
	vectors := *set
	vectors.Source, vectors.Vectors = nil, &loader.HeldVectors{Dim: 1, Rows: make([]float32, 5)}
	if _, err = Features(t.Context(), net, &vectors, l, []model.Layer{"cls"}, none); err == nil {
		t.Error("features of features are taken")
	}
}
