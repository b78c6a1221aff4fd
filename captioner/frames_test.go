package captioner

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
	"nmn/loader/features"
)

// writeRows writes a file of features whose number at row r and column c is r + c/10.
func writeRows(t testing.TB, rows, width int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.npy")
	w, err := features.Create(path, width)
	expect.OK(t, err)
	for r := range rows {
		row := make([]float32, width)
		for c := range row {
			row[c] = float32(r) + float32(c)/10
		}
		expect.OK(t, w.Write(row))
	}
	expect.OK(t, w.Commit())
	return path
}

func writeText(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	expect.OK(t, os.WriteFile(path, []byte(content), 0o666))
	return path
}

func openFrames(t testing.TB, o FrameFiles) *FrameFile {
	t.Helper()
	f, err := OpenFrames(t.Context(), o)
	expect.OK(t, err)
	t.Cleanup(func() { f.Close() })
	return f
}

func readClip(t testing.TB, f FrameFeatures, clip int) []float32 {
	t.Helper()
	dst := slices.Repeat([]float32{-1}, f.Frames()*f.Width())
	expect.OK(t, f.Features(clip, dst))
	return dst
}

func TestOpenFrames_RowsOfClips(t *testing.T) {
	f := openFrames(t,
		FrameFiles{Features: writeRows(t, 6, 2), Clips: writeText(t, "clips.csv", "clip,first,rows\nb,0,1\na,2,3\n")})
	if f.Clips() != 2 || f.Frames() != 3 || f.Width() != 2 || f.ID(1) != "a" {
		t.Fatalf("%d clips of %d frames of %d, the second is %q", f.Clips(), f.Frames(), f.Width(), f.ID(1))
	}
	if got, want := readClip(t, f, 0), []float32{0, .1, 0, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("clip b: %v, want %v", got, want)
	}
	if f.FrameCount(0) != 1 || f.FrameCount(1) != 3 {
		t.Errorf("%d and %d frames", f.FrameCount(0), f.FrameCount(1))
	}
	if got, want := readClip(t, f, 1), []float32{2, 2.1, 3, 3.1, 4, 4.1}; !slices.Equal(got, want) {
		t.Errorf("clip a: %v, want %v", got, want)
	}
}

func TestOpenFrames_RowsThatAreClips(t *testing.T) {
	f := openFrames(t, FrameFiles{Features: writeRows(t, 2, 6), IDs: []string{"a", "b"}, PerRow: 3})
	if f.Clips() != 2 || f.Frames() != 3 || f.FrameCount(1) != 3 || f.Width() != 2 {
		t.Fatalf("%d clips of %d frames of %d, the second has %d", f.Clips(), f.Frames(), f.Width(), f.FrameCount(1))
	}
	if got := readClip(t, f, 1); got[0] != 1 || got[5] != 1.5 {
		t.Errorf("clip b: %v", got)
	}
}

func TestOpenFrames_NamesWhatIsWrong(t *testing.T) {
	x := writeRows(t, 6, 4)
	clips := func(content string) string { return writeText(t, "clips.csv", content) }
	for want, o := range map[string]FrameFiles{
		"nothing names its 6 rows":            {Features: x},
		"2 identifiers for the 6 rows":        {Features: x, IDs: []string{"a", "b"}},
		"rows of 4 numbers are not 3 frames":  {Features: x, IDs: strings.Split("abcdef", ""), PerRow: 3},
		"want at least 1":                     {Features: x, IDs: strings.Split("abcdef", ""), PerRow: -1},
		"a row has either one frame":          {Features: x, Clips: clips("clip,first,rows\na,0,6\n"), PerRow: 2},
		"line 1: want the header":             {Features: x, Clips: clips("id,first,rows\na,0,6\n")},
		"there are none":                      {Features: x, Clips: clips("clip,first,rows\n")},
		"line 3: clip \"a\" repeats line 2":   {Features: x, Clips: clips("clip,first,rows\na,0,2\na,2,2\n")},
		"line 3: clip \"b\" begins at row 1":  {Features: x, Clips: clips("clip,first,rows\na,0,2\nb,1,2\n")},
		"rows 4 to 6, the features have 6":    {Features: x, Clips: clips("clip,first,rows\na,4,3\n")},
		"\"-1\" is not a whole number":        {Features: x, Clips: clips("clip,first,rows\na,-1,3\n")},
		"\"0\" is not a whole number of at l": {Features: x, Clips: clips("clip,first,rows\na,1,0\n")},
		"has no name":                         {Features: x, Clips: clips("clip,first,rows\n,1,1\n")},
		"wrong number of fields":              {Features: x, Clips: clips("clip,first,rows\na,1\n")},
		"at most 10000":                       {Features: x, Clips: clips("clip,first,rows\na,0,10001\n")},
	} {
		f, err := OpenFrames(t.Context(), o)
		if expect.Refusal(t, err, want); f != nil {
			t.Errorf("%s: files are open", want)
		}
	}
}

func TestFit_OtherWidthsAndFrames(t *testing.T) {
	f := openFrames(t, FrameFiles{Features: writeRows(t, 2, 6), IDs: []string{"a", "b"}, PerRow: 3})
	for _, c := range []struct {
		frames, width int
		fewer         bool
		want          string
	}{
		{3, 4, true, "2 numbers for a frame, the captioner takes 4"},
		{2, 2, true, "up to 3 frames, the captioner takes 2"},
		{5, 2, false, "at most 3 frames, the captioner was trained on up to 5"}, {3, 2, false, ""}, {5, 2, true, ""},
	} {
		err := Fit(f, c.frames, c.width, c.fewer)
		if c.want == "" && err != nil ||
			c.want != "" && (!errors.Is(err, ErrInput) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// FuzzParseClipRows: rows of clips that are accepted lie in the file and overlap nowhere.
func FuzzParseClipRows(f *testing.F) {
	f.Add("clip,first,rows\na,0,2\nb,2,4\n")
	f.Add("clip,first,rows\n\"a\nb\",0,9999999999999999999\n")
	f.Add("clip,first,rows\na,9223372036854775807,1\n")
	f.Fuzz(func(t *testing.T, content string) {
		const rows = 6
		clips, err := parseClipRows("f", strings.NewReader(content), rows)
		if err != nil {
			expect.Refusal(t, err, "", ErrFormat)
			return
		}
		end := 0
		for _, c := range clips {
			if c.id == "" || c.first < end || c.rows < 1 || c.first+c.rows > rows {
				t.Errorf("clip %+v behind row %d of %d", c, end, rows)
			}
			end = c.first + c.rows
		}
	})
}
