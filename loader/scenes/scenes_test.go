package scenes

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/text"
)

var update = flag.Bool("update", false, "write the golden files anew")

func makeScenes(t testing.TB, seed uint64, split string, n int) *loader.Set {
	t.Helper()
	set, err := Make(Config{Seed: seed, Split: split, N: n})
	expect.OK(t, err)
	return set
}

// classRates returns, per class, the mean of y, P(z=0|y=1) and P(z=1|y=0) over the rows that keep accepts.
func classRates(y, z []uint8, n int, keep func(row int) bool) (prevalence, missing, wrong [classCount]float64) {
	for k := range classCount {
		var count [2][2]float64 // [y][z]
		for row := range n {
			if keep(row) {
				count[y[row*classCount+k]][z[row*classCount+k]]++
			}
		}
		positive, negative := count[1][0]+count[1][1], count[0][0]+count[0][1]
		prevalence[k] = positive / (positive + negative)
		missing[k], wrong[k] = count[1][0]/positive, count[0][1]/negative
	}
	return prevalence, missing, wrong
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// captionNoise gives the labels after r of the five captions of every picture were replaced by
// captions of other pictures.
func captionNoise(set *loader.Set, r int, seed uint64) []uint8 {
	z := make([]uint8, set.Len()*classCount)
	for i := range set.Len() {
		s := rng.New(seed, i)
		slots := []int{0, 1, 2, 3, 4}
		s.Shuffle(slots)
		for slot, c := range slots {
			words := set.Captions[i][c]
			if slot < r {
				other := (i + 1 + s.Intn(set.Len()-1)) % set.Len()
				words = set.Captions[other][s.Intn(CaptionsPerPicture)]
			}
			for _, k := range words {
				z[i*classCount+int(k)] = 1
			}
		}
	}
	return z
}

func TestMake_MeasuredRates(t *testing.T) {
	n := 16000
	if testing.Short() {
		n = 4000
	}
	set := makeScenes(t, 1, "train", n)
	y := set.Truth.Uint8s()
	every := func(int) bool { return true }
	within := func(what string, got, want, tolerance float64) {
		t.Helper()
		t.Logf("%s: %.4f", what, got)
		if !(math.Abs(got-want) <= tolerance) {
			t.Errorf("%s: %.4f, want %.3f ± %.3f", what, got, want, tolerance)
		}
	}
	prevalence, missing, wrong := classRates(y, set.Labels.Uint8s(), n, every)
	within("mean prevalence of y", mean(prevalence[:]), .249, .004)
	within("P(z=0|y=1) of captions alone", mean(missing[:]), .25, .015)
	within("P(z=1|y=0) of captions alone", mean(wrong[:]), .01, .02)
	for k, w := range wrong {
		if w > .12 { // ball and star: two other shapes each are taken for them
			t.Errorf("P(z=1|y=0) of %q is %.3f without injected noise", sceneWords[k], w)
		}
	}
	noisy := captionNoise(set, 2, 7)
	_, missing, wrong = classRates(y, noisy, n, every)
	within("P(z=0|y=1) at 40 %", mean(missing[:]), .337, .006)
	within("P(z=1|y=0) at 40 %", mean(wrong[:]), .162, .006)
	_, night, _ := classRates(y, noisy, n, func(row int) bool { return y[row*classCount+int(wordNight)] == 1 })
	_, grass, _ := classRates(y, noisy, n, func(row int) bool { return y[row*classCount+int(wordGrass)] == 1 })
	var gap []float64
	for k := wordRed; k < wordAbove; k++ {
		if difference := night[k] - grass[k]; !math.IsNaN(difference) { // no green on grass, no black at night
			gap = append(gap, difference)
		}
	}
	within("night minus grass on JJ and VB", mean(gap), .41, .03)
}

func TestMake_VocabularyAndShapes(t *testing.T) {
	set := makeScenes(t, 3, "val", 50)
	groups := map[text.POS]int{}
	for k := range set.Vocabulary.Len() {
		groups[set.Vocabulary.Word(k).POS]++
	}
	want := map[text.POS]int{text.NN: 13, text.JJ: 12, text.VB: 4, text.IN: 3, text.DT: 2, text.Others: 2}
	if !reflect.DeepEqual(groups, want) {
		t.Errorf("words per part of speech %v, want %v", groups, want)
	}
	z, c := set.Labels.Uint8s(), set.Counts.Uint8s()
	for i := range z {
		if (z[i] == 1) != (c[i] > 0) || c[i] > CaptionsPerPicture {
			t.Fatalf("label %d is %d where %d captions mention the word", i, z[i], c[i])
		}
	}
	seen := map[string]bool{}
	for i, id := range set.IDs {
		if seen[id] {
			t.Errorf("id %q occurs twice", id)
		}
		seen[id] = true
		if len(set.Captions[i]) != CaptionsPerPicture {
			t.Errorf("picture %d has %d captions", i, len(set.Captions[i]))
		}
	}
}

func TestMake_EachPictureAlone(t *testing.T) {
	long, short := makeScenes(t, 5, "train", 300), makeScenes(t, 5, "train", 130)
	if !reflect.DeepEqual(long.Captions[:130], short.Captions) {
		t.Error("captions depend on N")
	}
	if !reflect.DeepEqual(long.Truth.Uint8s()[:130*classCount], short.Truth.Uint8s()) {
		t.Error("true labels depend on N")
	}
	cached, err := Make(Config{Seed: 5, Split: "train", N: 130, Cache: true})
	expect.OK(t, err)
	for range 2 { // the second time from the cache
		if a, b := pictureSum(t, cached, 99), pictureSum(t, short, 99); a != b {
			t.Error("the cached picture differs")
		}
	}
	if pictureSum(t, short, 99) == pictureSum(t, makeScenes(t, 5, "test", 130), 99) {
		t.Error("two splits share a picture")
	}
}

func pictureSum(t testing.TB, set *loader.Set, i int) string {
	t.Helper()
	var pic picture.Picture
	expect.OK(t, set.Source.Read(context.Background(), i, 0, &pic))
	return pictureHash(t, &pic)
}

func pictureHash(t testing.TB, pic *picture.Picture) string {
	t.Helper()
	if pic.Width != pictureSize || pic.Height != pictureSize || len(pic.Pix) != pictureBytes {
		t.Fatalf("picture of %d×%d with %d bytes", pic.Width, pic.Height, len(pic.Pix))
	}
	return fmt.Sprintf("%x", sha256.Sum256(pic.Pix))
}

// goldenScene fixes a picture for ever: results that were measured on the data set stay comparable.
type goldenScene struct {
	Index    int
	SHA256   string // digest of the pixels
	Truth    []string
	Captions []string
}

func TestMake_NeverDrifts(t *testing.T) {
	config := Config{Seed: 1, Split: "train", N: 40}
	set, err := Make(config)
	expect.OK(t, err)
	streams := newSceneStreams(config)
	var got []goldenScene
	places := map[int32]bool{}
	for i := range set.Len() {
		scene := streams.scene(i)
		if i >= 8 && places[scene.place] {
			continue
		}
		places[scene.place] = true
		golden := goldenScene{Index: i, SHA256: pictureSum(t, set, i)}
		for k, v := range set.Truth.Uint8s()[i*classCount : (i+1)*classCount] {
			if v == 1 {
				golden.Truth = append(golden.Truth, sceneWords[k])
			}
		}
		captions := streams.captions(i, &scene)
		for c := range captions {
			golden.Captions = append(golden.Captions, captions[c].String())
		}
		got = append(got, golden)
	}
	if len(places) != placeCount {
		t.Errorf("%d places, want %d", len(places), placeCount)
	}
	holdToGolden(t, filepath.Join("testdata", "golden.json"), got)
}

// holdToGolden compares a part of a data set with a file.
func holdToGolden[T any](t *testing.T, path string, got []T) {
	t.Helper()
	if *update {
		writeGolden(t, path, got)
	}
	data, err := os.ReadFile(path)
	expect.OK(t, err)
	var want []T
	expect.OK(t, json.Unmarshal(data, &want))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the data set has drifted: got %+v, want %+v", got, want)
	}
}

func writeGolden(t *testing.T, path string, value any) {
	t.Helper()
	data, err := json.MarshalIndent(value, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, append(data, '\n'), 0o644)
	}
	expect.OK(t, err)
}

func TestMake_BadConfig(t *testing.T) {
	for _, config := range []Config{{Split: "train"}, {N: 5}, {Split: "train", N: -1},
		{Split: "train", N: maxScenes + 1}} {
		if _, err := Make(config); err == nil {
			t.Errorf("%+v: no error", config)
		}
	}
	set := makeScenes(t, 1, "train", 3)
	for _, at := range [][2]int{{3, 0}, {-1, 0}, {0, 1}} {
		if err := set.Source.Read(context.Background(), at[0], at[1], new(picture.Picture)); err == nil {
			t.Errorf("bag %d, frame %d: no error", at[0], at[1])
		}
	}
}

func BenchmarkMake(b *testing.B) {
	for b.Loop() {
		makeScenes(b, 1, "train", 16000)
	}
}

func BenchmarkPaint(b *testing.B) {
	set := makeScenes(b, 1, "train", 1000)
	var pic picture.Picture
	i := 0
	for b.Loop() {
		expect.OK(b, set.Source.Read(context.Background(), i%1000, 0, &pic))
		i++
	}
	b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "images/s")
}

func TestMake_HasNoFiles(t *testing.T) {
	set, err := Make(Config{Seed: 1, Split: "train", N: 2})
	expect.OK(t, err)
	if _, err := loader.ReadEncoded(t.Context(), set.Source, 0, 0, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%v, want that it is not supported", err)
	}
}

func BenchmarkLoader(b *testing.B) {
	for _, cache := range []bool{false, true} {
		b.Run(fmt.Sprintf("cache=%v", cache), func(b *testing.B) {
			set, err := Make(Config{Seed: 1, Split: "train", N: 3200, Cache: cache})
			expect.OK(b, err)
			config := loader.DefaultConfig()
			config.Size, config.Fit = pictureSize, picture.FitNone
			l, err := loader.New(set, config)
			expect.OK(b, err)
			b.ReportAllocs()
			epoch := 0
			for b.Loop() {
				e, err := l.Epoch(context.Background(), epoch, 0)
				expect.OK(b, err)
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
