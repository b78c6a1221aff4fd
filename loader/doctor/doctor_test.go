package doctor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/internal/rng"
	"nmn/loader"
	"nmn/loader/doctor"
	"nmn/loader/picture"
	"nmn/text"
)

// painted is a picture that depends on its number.
func painted(number, width, height int) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.Set(x, y, color.RGBA{uint8(40 * number), uint8(7 * x), uint8(3 * y), 255})
		}
	}
	return img
}

func encodedJPEG(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	expect.OK(t, jpeg.Encode(&b, img, nil))
	return b.Bytes()
}

func encodedPNG(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	expect.OK(t, png.Encode(&b, img))
	return b.Bytes()
}

type bag struct {
	id       string
	file     []byte
	captions []string
}

// usual are n bags that differ in everything, of the classes cat and dog by turns.
func soundBags(t *testing.T, split string, n int) []bag {
	t.Helper()
	bags := make([]bag, n)
	for i := range bags {
		number := len(split)*10 + i
		word := []string{"cat", "dog"}[i%2]
		bags[i] = bag{fmt.Sprintf("%s-%d", split, i), encodedJPEG(t, painted(number, 40+number, 48)), []string{"a " + word}}
	}
	return bags
}

// split writes the pictures of bags and makes their set.
func split(t *testing.T, name string, bags []bag, words ...string) doctor.Split {
	t.Helper()
	all := make([]text.Word, len(words))
	for i, w := range words {
		all[i] = text.Word{Text: w}
	}
	vocabulary, err := text.NewVocabulary(all)
	expect.OK(t, err)
	dir := t.TempDir()
	var ids, files []string
	var captions [][]string
	for _, b := range bags {
		file := b.id + ".jpg"
		expect.OK(t, os.WriteFile(filepath.Join(dir, file), b.file, 0o666))
		ids, files, captions = append(ids, b.id), append(files, file), append(captions, b.captions)
	}
	set, err := loader.NewCaptionSet(name, ids, captions, 5, vocabulary)
	expect.OK(t, err)
	source, err := loader.NewFileSource(dir, files)
	expect.OK(t, err)
	set.Source = source
	return doctor.Split{Name: name, Set: set}
}

func options() doctor.Options {
	return doctor.Options{Workers: 3, MaxPixels: 1 << 20}
}

func examine(t *testing.T, o doctor.Options, splits ...doctor.Split) *doctor.Report {
	t.Helper()
	r, err := doctor.Examine(t.Context(), splits, o)
	expect.OK(t, err)
	return r
}

// wantFinding checks that there is one finding of a kind, with its weight, and returns it.
func wantFinding(t *testing.T, r *doctor.Report, w doctor.Weight, kind string) doctor.Finding {
	t.Helper()
	var findings []doctor.Finding
	for _, f := range r.Findings {
		if f.Kind == kind {
			findings = append(findings, f)
		}
	}
	if len(findings) != 1 || findings[0].Weight != w || findings[0].Text == "" || findings[0].Cure == "" {
		t.Fatalf("findings of the kind %s: %+v, want one %s; all: %+v", kind, findings, w, r.Findings)
	}
	return findings[0]
}

func TestExamine_SoundSetHasNothingAboveNotes(t *testing.T) {
	r := examine(t, options(), split(t, "train", soundBags(t, "train", 24), "cat", "dog"),
		split(t, "test", soundBags(t, "test", 4), "cat", "dog"))
	if len(r.Findings) != 0 {
		t.Errorf("findings %+v", r.Findings)
	}
	p := r.Splits[0].Pictures
	if p.Files != 24 || p.Decoded != 24 || p.Types["JPEG"] != 24 || p.Smallest.Width != 90 || p.Largest.Width != 113 ||
		p.Median.Width != 102 || p.Median.Height != 48 {
		t.Errorf("pictures %+v, median %+v", p, p.Median)
	}
	if o := r.Overlaps[0]; o.First != "train" || o.Second != "test" || o.IDs+o.Content+o.Captions != 0 {
		t.Errorf("overlap %+v, want none", o)
	}
}

// Pictures that a camera has stored rotated are reported, with how the run handles them.
func TestExamine_TurnedPictures(t *testing.T) {
	for orientation, want := range map[picture.Orientation]string{
		picture.OrientationApply:  "2 of 8; they are turned upright",
		picture.OrientationIgnore: "2 of 8; they are taken as they are stored",
	} {
		bags := soundBags(t, "train", 8)
		for i := range 2 {
			bags[i].file = append([]byte("\xff\xd8\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01"+
				"\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"), bags[i].file[2:]...)
		}
		o := options()
		o.Orientation = orientation
		r := examine(t, o, split(t, "train", bags, "cat", "dog"))
		if f := wantFinding(t, r, doctor.Note, "turned-pictures"); !strings.Contains(f.Text, want) {
			t.Errorf("%s: %q, want %q", orientation, f.Text, want)
		}
		p := r.Splits[0].Pictures
		if upright := p.Smallest.Width == 48; p.Turned != 2 || upright != (orientation == picture.OrientationApply) {
			t.Errorf("%s: %+v, smallest %+v", orientation, p, p.Smallest)
		}
	}
}

func TestExamine_CopyInTheTestSplit(t *testing.T) {
	train, test := soundBags(t, "train", 20), soundBags(t, "test", 4)
	test[2].file = train[7].file
	r := examine(t, options(), split(t, "train", train, "cat", "dog"), split(t, "test", test, "cat", "dog"))
	f := wantFinding(t, r, doctor.Warning, "duplicates-across")
	if !slices.Equal(f.Examples, []string{"train train-7 = test test-2"}) || r.Overlaps[0].Content != 1 {
		t.Errorf("examples %q, overlap %+v", f.Examples, r.Overlaps[0])
	}
}

// tiled is a picture of 9×9 tiles, another for each number, at a size of its tiles in pixels.
func tiled(number, tile int) image.Image {
	img := image.NewGray(image.Rect(0, 0, 9*tile, 9*tile))
	stream := rng.New(uint64(number))
	for y := range 9 {
		for x := range 9 {
			c := color.Gray{uint8(stream.Uint32())}
			for at := range tile * tile {
				img.SetGray(x*tile+at%tile, y*tile+at/tile, c)
			}
		}
	}
	return img
}

// Copies in another size or format are reported as a hint, apart from byte-identical ones.
func TestExamine_PicturesThatLookAlike(t *testing.T) {
	train, test := soundBags(t, "train", 20), soundBags(t, "test", 6)
	train[3].file, train[9].file = encodedJPEG(t, tiled(1, 10)), encodedPNG(t, tiled(1, 7))
	train[12].file, test[0].file, test[4].file = encodedPNG(t, tiled(2, 8)), encodedJPEG(t, tiled(2, 12)),
		encodedPNG(t, tiled(3, 8))
	test[2].file = train[12].file
	r := examine(t, options(), split(t, "train", train, "cat", "dog"), split(t, "test", test, "cat", "dog"))
	var examples []string
	for _, f := range r.Findings {
		if f.Weight == doctor.Note && strings.HasPrefix(f.Kind, "near-duplicates") {
			examples = append(examples, f.Examples...)
		}
	}
	// test-2 has the bytes of a training picture, so that test-0 is like both.
	if want := []string{"train train-3 ~ train train-9", "train train-12 ~ test test-0",
		"test test-0 ~ test test-2"}; !slices.Equal(examples, want) {
		t.Errorf("examples %q, want %q", examples, want)
	}
	if o := r.Overlaps[0]; o.Near != 1 || o.Content != 1 || r.Splits[0].Pictures.Near != 1 ||
		r.Splits[1].Pictures.Near != 1 {
		t.Errorf("overlap %+v, pictures %+v and %+v", o, r.Splits[0].Pictures, r.Splits[1].Pictures)
	}
}

func TestExamine_CopiesWithinASplitAreANote(t *testing.T) {
	train := soundBags(t, "train", 20)
	train[3].file, train[5].file = train[1].file, train[1].file
	r := examine(t, options(), split(t, "train", train, "cat", "dog"))
	wantFinding(t, r, doctor.Note, "duplicates")
	if c := r.Splits[0].Pictures.Copies; c != (doctor.Copies{Duplicates: 2}) {
		t.Errorf("%+v, want 2 beside the first, all dogs", c)
	}
	train[4].file = train[1].file
	r = examine(t, options(), split(t, "train", train, "cat", "dog"))
	wantFinding(t, r, doctor.Note, "relabelled-duplicates")
	if c := r.Splits[0].Pictures.Copies; c != (doctor.Copies{Duplicates: 3, Relabelled: 1}) {
		t.Errorf("%+v, want one that is a cat", c)
	}
}

func TestExamine_TruncatedJPEGStopsARunUnlessItIsAllowed(t *testing.T) {
	train := soundBags(t, "train", 20)
	train[4].file = train[4].file[:len(train[4].file)/2]
	set := split(t, "train", train, "cat", "dog")
	f := wantFinding(t, examine(t, options(), set), doctor.Error, "broken-pictures")
	if len(f.Examples) != 1 || !bytes.Contains([]byte(f.Examples[0]), []byte("train-4.jpg")) ||
		!bytes.Contains([]byte(f.Cure), []byte("`data.max_bad_samples` 1")) {
		t.Errorf("finding %+v does not name the file and the cure", f)
	}
	o := options()
	o.MaxBadSamples = 1
	wantFinding(t, examine(t, o, set), doctor.Warning, "broken-pictures")
}

func TestExamine_LabelsThatTeachNothing(t *testing.T) {
	train := soundBags(t, "train", 20)
	for i := range train {
		train[i].captions[0] += " here"
	}
	train[6].captions[0] = "here"
	r := examine(t, options(), split(t, "train", train, "cat", "dog", "here", "unicorn"))
	if f := wantFinding(t, r, doctor.Warning, "empty-classes"); !slices.Equal(f.Examples, []string{"unicorn"}) {
		t.Errorf("empty classes %q", f.Examples)
	}
	if f := wantFinding(t, r, doctor.Warning, "constant-classes"); !slices.Equal(f.Examples, []string{"here"}) {
		t.Errorf("constant classes %q", f.Examples)
	}
	if l := r.Splits[0].Labels; l.Most[0] != (doctor.ClassSize{Word: "here", Bags: 20}) ||
		l.Least[0] != (doctor.ClassSize{Word: "cat", Bags: 9}) || l.Rare != 1 {
		t.Errorf("labels %+v", l)
	}
}

func TestExamine_LabelsThatLookLikeLists(t *testing.T) {
	packed := split(t, "train", soundBags(t, "train", 4), "cat,dog", "cat", "dog", "dog,owl", "owl", "owl,cat")
	f := wantFinding(t, examine(t, options(), packed), doctor.Error, "packed-labels")
	if !strings.Contains(f.Text, "3 of 6 labels hold a comma, and 3 of the 3 parts") ||
		!strings.Contains(f.Cure, "(cat;dog)") {
		t.Errorf("%s; %s", f.Text, f.Cure)
	}
	named := options()
	named.Named = true
	wantFinding(t, examine(t, named, packed), doctor.Warning, "packed-labels")
}

func TestExamine_ClassesWhoseNamesAreAlike(t *testing.T) {
	alike := split(t, "train", soundBags(t, "train", 4), "Dog", "cat", "dog")
	joinable := options()
	joinable.JoinLabels = true
	f := wantFinding(t, examine(t, joinable, alike), doctor.Warning, "alike-classes")
	if !slices.Equal(f.Examples, []string{"Dog and dog"}) || !strings.Contains(f.Cure, "`data.join_labels`") {
		t.Errorf("%q; %s", f.Examples, f.Cure)
	}
}

func TestExamine_BagsWithoutLabel(t *testing.T) {
	train := soundBags(t, "train", 20)
	train[0].captions = []string{"nothing"}
	wantFinding(t, examine(t, options(), split(t, "train", train, "cat", "dog")), doctor.Note, "samples-without-label")
	for i := range 12 {
		train[i].captions = nil
	}
	r := examine(t, options(), split(t, "train", train, "cat", "dog"))
	wantFinding(t, r, doctor.Warning, "samples-without-label")
	if n := r.Splits[0].Labels.Unlabelled; n != 12 {
		t.Errorf("%d bags without label, want 12", n)
	}
}

func TestExamine_IdentifierAndCaptionsInTwoSplits(t *testing.T) {
	train, test := soundBags(t, "train", 20), soundBags(t, "test", 4)
	test[1].id = train[2].id
	long := []string{"a cat and a dog", "a dog and a cat", "one cat, one dog", "dog beside cat"}
	train[9].captions, test[3].captions = long, long
	r := examine(t, options(), split(t, "train", train, "cat", "dog"), split(t, "test", test, "cat", "dog"))
	if f := wantFinding(t, r, doctor.Warning, "ids-across"); !slices.Equal(f.Examples, []string{"train-2"}) {
		t.Errorf("identifiers %q", f.Examples)
	}
	if f := wantFinding(t, r, doctor.Warning, "captions-across"); !slices.Equal(f.Examples, []string{"test-3"}) {
		t.Errorf("captions of %q", f.Examples)
	}
}

func TestExamine_SizesAndTypes(t *testing.T) {
	train := soundBags(t, "train", 20)
	train[0].file = encodedPNG(t, painted(1, 200, 50))
	train[1].file = encodedPNG(t, image.NewGray(image.Rect(0, 0, 20, 10)))
	p := examine(t, options(), split(t, "train", train, "cat", "dog")).Splits[0].Pictures
	if p.Types["PNG"] != 2 || p.Types["JPEG"] != 18 ||
		p.Smallest.ID != "train-1" || p.Largest.ID != "train-0" {
		t.Errorf("pictures %+v, smallest %+v, largest %+v", p, p.Smallest, p.Largest)
	}
}

func TestExamine_SampleDecodesSomeAndComparesAll(t *testing.T) {
	train := soundBags(t, "train", 20)
	train[3].file = train[1].file
	o := options()
	o.Sample, o.Seed = 5, 1
	r := examine(t, o, split(t, "train", train, "cat", "dog"))
	if p := r.Splits[0].Pictures; p.Decoded != 5 || p.Files != 20 || p.Duplicates != 1 {
		t.Errorf("pictures %+v, want 5 decoded and the copy found", p)
	}
	wantFinding(t, r, doctor.Note, "sampled")
}

func TestExamine_DoesNotDependOnWorkers(t *testing.T) {
	train := soundBags(t, "train", 20)
	train[4].file, train[8].file, train[5].file = train[4].file[:100], train[8].file[:90], train[1].file
	set := split(t, "train", train, "cat", "dog")
	o := options()
	o.Workers = 1
	want := examine(t, o, set)
	o.Workers = 7
	if got := examine(t, o, set); !reflect.DeepEqual(got, want) {
		t.Errorf("7 workers find %+v\nand one %+v", got, want)
	}
}

func TestExamine_EndsWhenItIsAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := options()
	o.Progress = func(doctor.Progress) { cancel() }
	if _, err := doctor.Examine(ctx, []doctor.Split{split(t, "train", soundBags(t, "train", 20), "cat", "dog")},
		o); err == nil || ctx.Err() == nil {
		t.Errorf("no error although it was asked to end")
	}
}

// stuckSource is a source whose pictures take for ever.
type stuckSource struct {
	loader.Source
	inside, letGo chan struct{}
}

func (s stuckSource) Frames(int) int { return 1 }

func (s stuckSource) Read(context.Context, int, int, *picture.Picture) error {
	s.inside <- struct{}{}
	<-s.letGo
	return nil
}

// A signal must not wait for the pictures that decoders are in: one file can take minutes.
func TestExamine_CancellationDoesNotWaitForDecoders(t *testing.T) {
	train := split(t, "train", soundBags(t, "train", 20), "cat", "dog")
	source := stuckSource{inside: make(chan struct{}, 20), letGo: make(chan struct{})}
	train.Set.Source = source
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-source.inside
		cancel()
	}()
	if _, err := doctor.Examine(ctx, []doctor.Split{train}, options()); !errors.Is(err, context.Canceled) {
		t.Errorf("asked to end while a picture is decoded: %v", err)
	}
	close(source.letGo)
}
