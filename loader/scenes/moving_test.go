package scenes

import (
	"context"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/loader"
	"nmn/loader/picture"
	"nmn/loader/shard"
)

func makeMoving(t testing.TB, config MovingConfig) *loader.Set {
	t.Helper()
	set, err := MakeMoving(config)
	expect.OK(t, err)
	return set
}

func frameSum(t testing.TB, set *loader.Set, bag, frame int) string {
	t.Helper()
	var pic picture.Picture
	expect.OK(t, set.Source.Read(context.Background(), bag, frame, &pic))
	return pictureHash(t, &pic)
}

func TestMakeMoving_EachFrameAlone(t *testing.T) {
	config := MovingConfig{Seed: 5, Split: "train", N: 80, Frames: 8}
	long := makeMoving(t, config)
	config.N, config.Cache = 30, true
	short := makeMoving(t, config)
	if !reflect.DeepEqual(long.Captions[:30], short.Captions) || !reflect.DeepEqual(long.Truth.Uint8s()[:30*classCount],
		short.Truth.Uint8s()) {
		t.Error("captions or true labels depend on N")
	}
	last := frameSum(t, long, 29, 7) // before any other frame of the clip was made
	for range 2 {                    // the second time from the cache
		if frameSum(t, short, 29, 7) != last {
			t.Error("the frame depends on what was read before it")
		}
	}
	if frameSum(t, long, 29, 6) == last {
		t.Error("two frames of a clip are equal")
	}
	config.Split = "test"
	if frameSum(t, makeMoving(t, config), 29, 7) == last {
		t.Error("two splits share a frame")
	}
}

// The truth of a clip is the union over its frames, and captions describe one frame.
func TestMakeMoving_TruthIsTheUnionOfFrames(t *testing.T) {
	config := MovingConfig{Seed: 2, Split: "train", N: 60, Frames: 8}
	set := makeMoving(t, config)
	changing := 0
	for i := range set.Len() {
		frames, err := FrameTruth(config, i)
		expect.OK(t, err)
		union := make([]uint8, classCount)
		for f := range config.Frames {
			row := frames.Uint8s()[f*classCount : (f+1)*classCount]
			if f > 0 && !reflect.DeepEqual(row, frames.Uint8s()[:classCount]) {
				changing++
			}
			for k, y := range row {
				union[k] |= y
			}
		}
		if got := set.Truth.Uint8s()[i*classCount : (i+1)*classCount]; !reflect.DeepEqual(got, union) {
			t.Fatalf("clip %d is %v, its frames together %v", i, got, union)
		}
	}
	if changing < set.Len()*config.Frames/4 {
		t.Errorf("%d frames of %d differ from the first of their clip", changing, set.Len()*config.Frames)
	}
}

func TestMakeMoving_PathsKeepToTheRules(t *testing.T) {
	for _, frames := range []int{3, 8, 26} {
		comes, goes := 0, 0
		for i := range 200 {
			stream := rng.New(uint64(frames), i)
			c := drawClip(&stream, frames)
			for n := range c.count {
				p, o := c.paths[n], &c.objects[n]
				switch length := p.end - p.first; {
				case length < 2 || length >= frames:
					t.Fatalf("an object is there for %d of %d frames", length, frames)
				case p.first > 0 && p.end == frames:
					comes++
				case p.first == 0 && p.end < frames:
					goes++
				default:
					t.Fatalf("an object is there from frame %d to %d of %d", p.first, p.end, frames)
				}
				if math.Abs(p.dx) > topSpeed || math.Abs(p.dy) > topSpeed {
					t.Fatalf("speed %v, %v", p.dx, p.dy)
				}
				near := onGrid(.8 * o.radius)
				for step := range frames {
					x, next := bounce(o.x+float64(step)*p.dx, o.radius), bounce(o.x+float64(step+1)*p.dx, o.radius)
					if x < near || x > pictureSize-near || math.Abs(next-x) > math.Abs(p.dx) {
						t.Fatalf("an object of radius %v goes from %v to %v at %v a frame", o.radius, x, next, p.dx)
					}
					if x != onGrid(x) {
						t.Fatalf("%v is off the grid", x)
					}
				}
			}
		}
		if comes < goes/2 || goes < comes/2 {
			t.Errorf("%d objects come, %d go", comes, goes)
		}
	}
}

func TestMakeMoving_MeasuredRates(t *testing.T) {
	const n = 3000
	for _, c := range []struct {
		frames, replaced           int
		prevalence, missing, wrong float64
	}{{8, 0, .277, .379, .004}, {8, 2, .277, .457, .123}, {26, 2, .290, .482, .120}} {
		set := makeMoving(t, MovingConfig{Seed: 1, Split: "train", N: n, Frames: c.frames})
		prevalence, missing, wrong := classRates(set.Truth.Uint8s(), captionNoise(set, c.replaced, 7), n,
			func(int) bool { return true })
		for _, rate := range []struct {
			what      string
			got, want float64
		}{{"prevalence", mean(prevalence[:]), c.prevalence}, {"P(z=0|y=1)", mean(missing[:]), c.missing},
			{"P(z=1|y=0)", mean(wrong[:]), c.wrong}} {
			if !(math.Abs(rate.got-rate.want) < .008) {
				t.Errorf("%d frames, %d captions replaced: %s is %.4f, want %.3f",
					c.frames, c.replaced, rate.what, rate.got, rate.want)
			}
		}
	}
}

// goldenClip fixes a clip for ever: results that were measured on the data set stay comparable.
type goldenClip struct {
	Frames   int
	First    string // SHA-256 of the pixels
	Last     string
	Captions [][]string
}

func TestMakeMoving_NeverDrifts(t *testing.T) {
	var got []goldenClip
	for _, frames := range []int{8, 26} {
		set := makeMoving(t, MovingConfig{Seed: 1, Split: "train", N: 6, Frames: frames})
		for i := range set.Len() {
			clip := goldenClip{Frames: frames, First: frameSum(t, set, i, 0), Last: frameSum(t, set, i, frames-1)}
			for _, caption := range set.Captions[i] {
				words := []string{}
				for _, k := range caption {
					words = append(words, sceneWords[k])
				}
				clip.Captions = append(clip.Captions, words)
			}
			got = append(got, clip)
		}
	}
	holdToGolden(t, filepath.Join("testdata", "moving.json"), got)
}

func TestMakeMoving_BadConfig(t *testing.T) {
	for _, config := range []MovingConfig{{Split: "train", Frames: 8}, {N: 5, Frames: 8},
		{Split: "train", N: 5, Frames: 2}, {Split: "train", N: 5, Frames: 1001}} {
		if _, err := MakeMoving(config); err == nil {
			t.Errorf("%+v: no error", config)
		}
	}
	set := makeMoving(t, MovingConfig{Split: "train", N: 3, Frames: 4})
	for _, at := range [][2]int{{3, 0}, {-1, 0}, {0, 4}, {0, -1}} {
		if err := set.Source.Read(context.Background(), at[0], at[1], new(picture.Picture)); err == nil {
			t.Errorf("bag %d, frame %d: no error", at[0], at[1])
		}
	}
}

func BenchmarkPaintMoving(b *testing.B) {
	const clips, frames = 100, 26
	set := makeMoving(b, MovingConfig{Seed: 1, Split: "train", N: clips, Frames: frames})
	var pic picture.Picture
	i := 0
	for b.Loop() {
		expect.OK(b, set.Source.Read(context.Background(), i/frames%clips, i%frames, &pic))
		i++
	}
	b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "images/s")
}

// TestWriteMoving_ReadsBackAsTheSet holds a folder that was written to the set that it was made of.
func TestWriteMoving_ReadsBackAsTheSet(t *testing.T) {
	config := MovingConfig{Seed: 3, Split: "val", N: 70, Frames: 4}
	want, err := MakeMoving(config)
	expect.OK(t, err)
	dir := filepath.Join(t.TempDir(), "val")
	if err := WriteMoving(t.Context(), config, shard.Config{ShardBytes: 64 << 10}, dir); err != nil {
		t.Fatal(err)
	}
	clips, err := loader.OpenClips(dir)
	expect.OK(t, err)
	defer clips.Close()
	labels, err := loader.OpenClipLabels(filepath.Join(dir, loader.LabelsName))
	expect.OK(t, err)
	defer labels.Close()
	set, err := loader.StreamClips(want.Name, clips, labels, want.Vocabulary)
	expect.OK(t, err)
	got, err := loader.Hold(t.Context(), set)
	expect.OK(t, err)
	for _, of := range []struct {
		what      string
		got, want any
	}{
		{"names", got.IDs, want.IDs}, {"captions", got.Captions, want.Captions},
		{"captions of a bag", got.CaptionsPerSample, want.CaptionsPerSample},
		{"labels", got.Labels.Uint8s(), want.Labels.Uint8s()},
		{"counts", got.Counts.Uint8s(), want.Counts.Uint8s()},
		{"truth", got.Truth.Uint8s(), want.Truth.Uint8s()},
	} {
		if !reflect.DeepEqual(of.got, of.want) {
			t.Errorf("%s differ: %v, want %v", of.what, of.got, of.want)
		}
	}
	if difference := pictureDifference(t, got, want); difference > 8 {
		t.Errorf("pixels differ by %.2f of 255 on average", difference)
	}
}

// pictureDifference is the mean absolute difference of all pixels of two sets.
func pictureDifference(t *testing.T, a, b *loader.Set) float64 {
	t.Helper()
	sum, n := 0, 0
	var p, q picture.Picture
	for bag := range a.Len() {
		for frame := range a.Source.Frames(bag) {
			expect.OK(t, a.Source.Read(t.Context(), bag, frame, &p))
			expect.OK(t, b.Source.Read(t.Context(), bag, frame, &q))
			for i, v := range p.Pix {
				sum, n = sum+max(int(v)-int(q.Pix[i]), int(q.Pix[i])-int(v)), n+1
			}
		}
	}
	return float64(sum) / float64(n)
}

// The words of the vocabulary that a sentence has are those that the labels of its clip come from.
func TestMovingCaptions_SayWhatTheLabelsSay(t *testing.T) {
	config := MovingConfig{Seed: 3, Split: "train", N: 200, Frames: 8}
	set := makeMoving(t, config)
	ids, captions, err := MovingCaptions(config, 7)
	expect.OK(t, err)
	if !slices.Equal(ids, set.IDs) {
		t.Fatal("the captions are of other clips")
	}
	forms := map[string]bool{}
	for i, all := range captions {
		if len(all) != 7 {
			t.Fatalf("clip %d has %d captions", i, len(all))
		}
		c := -1
		for _, words := range set.Captions[i] {
			if len(words) == 0 { // it would say nothing, and another one was drawn
				continue
			}
			c++
			var mentioned []int32
			for _, word := range strings.Fields(all[c]) {
				if k, ok := set.Vocabulary.Index(word); ok {
					mentioned = append(mentioned, int32(k))
				}
			}
			slices.Sort(mentioned)
			if mentioned = slices.Compact(mentioned); !slices.Equal(mentioned, words) {
				t.Fatalf("clip %d: %q says %v, its labels come from %v", i, all[c], mentioned, words)
			}
		}
		for _, caption := range all {
			forms[caption] = true
			if !slices.ContainsFunc(strings.Fields(caption),
				func(w string) bool { _, ok := set.Vocabulary.Index(w); return ok }) {
				t.Errorf("clip %d: %q says nothing", i, caption)
			}
		}
	}
	if len(forms) < 800 {
		t.Errorf("%d different sentences among 1,400", len(forms))
	}
}

func TestMovingCaptions_EachAlone(t *testing.T) {
	config := MovingConfig{Seed: 5, Split: "test", N: 90, Frames: 8}
	_, long, err := MovingCaptions(config, 20)
	expect.OK(t, err)
	config.N = 40
	_, short, err := MovingCaptions(config, 5)
	expect.OK(t, err)
	for i := range short {
		if !reflect.DeepEqual(short[i], long[i][:5]) {
			t.Fatalf("clip %d: %q, among more clips and captions %q", i, short[i], long[i][:5])
		}
	}
	for _, perClip := range []int{0, 101} {
		if _, _, err := MovingCaptions(config, perClip); err == nil {
			t.Errorf("%d captions of a clip: no error", perClip)
		}
	}
}

// Sentences that were measured on stay comparable.
func TestMovingCaptions_NeverDrift(t *testing.T) {
	_, got, err := MovingCaptions(MovingConfig{Seed: 1, Split: "train", N: 3, Frames: 8}, 3)
	expect.OK(t, err)
	want := [][]string{
		{"there is a large running box behind a box together", "there is a box beside a running box at night",
			"there is a white box"},
		{"a blue thing on the sand", "a tent alone", "there is a tent"},
		{"a large heart glowing", "we see many things with a purple dotted heart glowing",
			"a picture of a large dotted heart"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}
