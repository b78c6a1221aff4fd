package loader

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"nmn/internal/expect"
	"nmn/loader/picture"
)

func newTestSource(t *testing.T, root string, files ...string) *FileSource {
	t.Helper()
	source, err := NewFileSource(root, files)
	expect.OK(t, err)
	return source
}

func TestFileSource_BadFilesAreNamed(t *testing.T) {
	folder := t.TempDir()
	root := filepath.Join(folder, "root")
	write := func(name string, data []byte) {
		t.Helper()
		expect.OK(t, os.WriteFile(filepath.Join(folder, name), data, 0o644))
	}
	expect.OK(t, os.MkdirAll(filepath.Join(root, "directory.jpg"), 0o755))
	whole := greyJPEG(t, 40, 30, 9)
	write("root/good.jpg", whole)
	write("root/cut.jpg", whole[:len(whole)/2])
	write("root/empty.jpg", nil)
	names := []string{"good.jpg", "cut.jpg", "empty.jpg", "missing.jpg", "directory.jpg", ""}
	source := newTestSource(t, root, names...)
	for i, name := range names {
		err := source.Read(context.Background(), i, 0, new(picture.Picture))
		if i == 0 {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want ErrCorrupt and the name", name, err)
		}
	}
	if err := source.Read(context.Background(), 3, 0, new(picture.Picture)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v hides the cause", err)
	}
	if err := source.Read(context.Background(), 1, 0, new(picture.Picture)); err == nil ||
		!strings.Contains(err.Error(), "image 1, ") {
		t.Errorf("%v does not name index and size", err)
	}
}

func TestFileSource_ReadsFilesWhereverTheyLie(t *testing.T) {
	folder := t.TempDir()
	root, outside := filepath.Join(folder, "root"), filepath.Join(folder, "outside.jpg")
	expect.OK(t, os.Mkdir(root, 0o755))
	expect.OK(t, os.WriteFile(outside, greyJPEG(t, 40, 30, 9), 0o644))
	if err := os.Symlink("../outside.jpg", filepath.Join(root, "link.jpg")); err != nil {
		t.Skip(err)
	}
	source := newTestSource(t, root, "link.jpg", "../outside.jpg", filepath.ToSlash(outside))
	for i := range source.files {
		pic := new(picture.Picture)
		if err := source.Read(t.Context(), i, 0, pic); err != nil || pic.Width != 40 {
			t.Errorf("%s: %v", source.files[i], err)
		}
	}
	for _, folder := range []string{filepath.Join(folder, "missing"), outside} {
		if _, err := NewFileSource(folder, nil); err == nil || !strings.Contains(err.Error(), folder) {
			t.Errorf("%s in the place of a folder: %v", folder, err)
		}
	}
}

func TestFileSource_Limits(t *testing.T) {
	root := t.TempDir()
	expect.OK(t, os.WriteFile(filepath.Join(root, "a.jpg"), greyJPEG(t, 20, 20, 9), 0o644))
	source := newTestSource(t, root, "a.jpg")
	if err := source.Read(t.Context(), 0, 0, &picture.Picture{MaxPixels: 399}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("400 pixels at a limit of 399: %v", err)
	}
	expect.OK(t, os.Truncate(filepath.Join(root, "a.jpg"), picture.MaxFileBytes+1))
	if err := source.Read(t.Context(), 0, 0, new(picture.Picture)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a file that is too large: %v", err)
	}
	if err := source.Read(context.Background(), 1, 0, new(picture.Picture)); err == nil {
		t.Error("index 1 of 1: no error")
	}
}

func TestOpenText_ReadsUTF16(t *testing.T) {
	const want = "path,labels\r\nä.jpg,Größe 𝄞\r\n"
	for _, c := range []struct {
		order binary.AppendByteOrder
		first string // a mark, or nothing
	}{{binary.LittleEndian, "\ufeff"}, {binary.BigEndian, "\ufeff"}, {binary.LittleEndian, ""}, {binary.BigEndian, ""}} {
		order := c.order
		var content []byte
		for _, unit := range utf16.Encode([]rune(c.first + want)) {
			content = order.AppendUint16(content, unit)
		}
		for _, cut := range []int{0, 1} {
			path := filepath.Join(t.TempDir(), "table.csv")
			expect.OK(t, os.WriteFile(path, content[:len(content)-cut], 0o666))
			text, mark, err := OpenMarkedText(t.Context(), path)
			expect.OK(t, err)
			got, err := io.ReadAll(text)
			if cut == 0 && (string(got) != want || err != nil || mark != byteOrderMark) {
				t.Errorf("%v: %q, mark %q, %v", order, got, mark, err)
			}
			if cut > 0 && err == nil {
				t.Errorf("%v: half a character is no error", order)
			}
			text.Close()
		}
	}
}

func TestReadEncoded_GivesTheBytesOfAFile(t *testing.T) {
	dir := t.TempDir()
	files := map[string][]byte{"a.jpg": greyJPEG(t, 8, 8, 10), "b.jpg": greyJPEG(t, 8, 8, 200),
		"c.jpg": []byte("no picture")}
	for name, content := range files {
		expect.OK(t, os.WriteFile(filepath.Join(dir, name), content, 0o666))
	}
	source, err := NewFileSource(dir, []string{"a.jpg", "b.jpg", "c.jpg", "missing.jpg"})
	expect.OK(t, err)
	chosen := placedSource{source, chosenBags{2, 1}}
	for _, c := range []struct {
		source Source
		bag    int
		name   string
		format string
	}{{source, 0, "a.jpg", "JPEG"}, {chosen, 0, "c.jpg", ""}, {chosen, 1, "b.jpg", "JPEG"}} {
		got, err := ReadEncoded(t.Context(), c.source, c.bag, 0, nil)
		if err != nil || !bytes.Equal(got, files[c.name]) || picture.Format(got) != c.format {
			t.Errorf("bag %d of %T: %d bytes, format %q, %v; want those of %s",
				c.bag, c.source, len(got), picture.Format(got), err, c.name)
		}
	}
	if _, err := ReadEncoded(t.Context(), source, 3, 0, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := ReadEncoded(t.Context(), chosen, 2, 0, nil); err == nil {
		t.Error("a bag beyond the subset was read")
	}
}

func TestReadEncoded_FramesOfClips(t *testing.T) {
	set := videoSet(t, writeClips(t, raggedFrames...), "video2", "video0")
	got, err := ReadEncoded(t.Context(), set.Source, 1, 2, nil)
	if err != nil || !bytes.Equal(got, greyJPEG(t, 16, 8, greyOf(0, 2))) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := ReadEncoded(t.Context(), set.Source, 1, 3, nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a frame beyond the clip: %v", err)
	}
}

// halfRed are pictures whose left half is red and whose right half is blue; frame 1 is the first in the
// middle.
type halfRed struct{ width, height int }

func (h halfRed) Frames(int) int { return 2 }

func (h halfRed) Read(_ context.Context, _, frame int, p *picture.Picture) error {
	if frame != 1 {
		return ErrCorrupt
	}
	p.Width, p.Height, p.Pix = h.width, h.height, make([]uint8, 3*h.width*h.height)
	for i := range h.width * h.height {
		p.Pix[3*i+2*min(1, i%h.width*2/h.width)] = 255
	}
	return nil
}

// A clip is shown by its middle frame. Colours and places are tested in package picture.
func TestThumbnailer_TakesTheMiddleFrame(t *testing.T) {
	var maker Thumbnailer
	small, err := maker.Middle(t.Context(), halfRed{1500, 700}, 0)
	if err != nil || small.Width != picture.ThumbnailSize || small.Height != 149 {
		t.Errorf("%d×%d, %v", small.Width, small.Height, err)
	}
	if _, err := maker.Frame(t.Context(), halfRed{9, 9}, 0, 0); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a frame that cannot be read: %v", err)
	}
}

// é as one letter, and as e with an accent.
const composed, decomposed = "\u00e9", "e\u0301"

func TestAlikeFiles_InTheOtherNormalForm(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"Caf" + decomposed + "/" + composed + ".jpg", "Caf" + decomposed + "/x.mp4", "b/Th" +
		decomposed + ".png", "b/th" + composed + ".PNG", "a/A.jpg"} {
		path := filepath.Join(dir, filepath.FromSlash(file))
		expect.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		expect.OK(t, os.WriteFile(path, nil, 0o644))
	}
	if _, err := os.Stat(filepath.Join(dir, "Caf"+composed)); err == nil {
		t.Skip("the file system compares names in one normal form")
	}
	in := "Caf" + decomposed + "/"
	alike := NewAlikeFiles(dir)
	for path, want := range map[string][]string{
		"Caf" + composed + "/" + decomposed + ".jpg": {in + composed + ".jpg"},
		"CAF" + composed + "/" + decomposed + ".JPG": {in + composed + ".jpg"},
		in + decomposed:                    {in + composed + ".jpg"},
		"Caf" + composed + "/x.mp4":        {in + "x.mp4"},
		"b/TH" + composed + ".png":         {"b/Th" + decomposed + ".png", "b/th" + composed + ".PNG"},
		"B/a.jpg":                          nil,
		"A/a.JPG":                          {"a/A.jpg"},
		"A/a":                              nil, // names without ending keep their case
		"none/none/1.jpg":                  nil,
		"a/A.jpg/1.jpg":                    nil,
		filepath.ToSlash(dir) + "/A/a.jpg": {filepath.ToSlash(dir) + "/a/A.jpg"},
		filepath.ToSlash(dir) + "/Caf" + composed + "/x.mp4": {filepath.ToSlash(dir) + "/" + in + "x.mp4"},
	} {
		got, err := alike.Find(path)
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%+q: %+q, %v; want %+q", path, got, err, want)
		}
	}
}

func TestSplitByIDs_InTheOtherNormalForm(t *testing.T) {
	set := &Set{Name: "s", IDs: []string{"Caf" + composed, "Th" + decomposed, "x"}}
	parts, err := SplitByIDs(set, []string{"Th" + composed, "x"}, []string{"Caf" + decomposed})
	if err != nil || !slices.Equal(parts[0].IDs, []string{"Th" + decomposed, "x"}) || parts[1].IDs[0] != set.IDs[0] {
		t.Errorf("%v, %v", parts, err)
	}
	if _, err := SplitByIDs(set, []string{"Caf" + composed, "Caf" + decomposed}); err == nil {
		t.Error("one bag is listed twice, in both forms")
	}
}

// Tables often name pictures from one folder above the folder that is given.
func TestAlikeFiles_RepeatTheFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data", "pics")
	for _, file := range []string{"1.png", "1.PNG", "pics/2.png", "Sub/3.png"} {
		path := filepath.Join(dir, filepath.FromSlash(file))
		expect.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		expect.OK(t, os.WriteFile(path, nil, 0o644))
	}
	alike := NewAlikeFiles(dir)
	for path, want := range map[string]string{"pics/1.png": "1.png", "data/pics/1.png": "1.png", "pics/1.PNG": "1.PNG",
		"pics/2.png": "pics/2.png", "pics/sub/3.png": "Sub/3.png", "other/1.png": "", "ics/1.png": ""} {
		got, err := alike.Find(path)
		if err != nil || len(got) > 1 || want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
}
