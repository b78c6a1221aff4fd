//go:build unix

package frames

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// installed is the ffmpeg of this machine.
func installed(t *testing.T) *FFmpeg {
	t.Helper()
	f, err := Find(t.Context(), "")
	if err != nil {
		t.Skip("left out: ", err)
	}
	return f
}

// Frames that are drawn here show their number: twelve squares, white for a one.
const (
	numberBits  = 12
	square      = 16
	drawnWidth  = numberBits * square
	drawnHeight = 3 * square
)

func drawn(number int) *image.YCbCr {
	p := image.NewYCbCr(image.Rect(0, 0, drawnWidth, drawnHeight), image.YCbCrSubsampleRatio420)
	for i := range p.Y {
		p.Y[i] = 30
		if x := i % p.YStride; number>>(x/square)&1 == 1 {
			p.Y[i] = 220
		}
	}
	for i := range p.Cb {
		p.Cb[i], p.Cr[i] = 128, 128
	}
	return p
}

// shown reads the number of a picture of any size, turned or not.
func shown(t *testing.T, file []byte) int {
	t.Helper()
	p, err := jpeg.Decode(bytes.NewReader(file))
	expect.OK(t, err)
	w, h := p.Bounds().Dx(), p.Bounds().Dy()
	number := 0
	for bit := range numberBits {
		x, y := (2*bit+1)*w/(2*numberBits), h/2
		if h > w { // by a quarter, clockwise
			x, y = w/2, (2*bit+1)*h/(2*numberBits)
		}
		if color.GrayModel.Convert(p.At(x, y)).(color.Gray).Y > 128 {
			number |= 1 << bit
		}
	}
	return number
}

// writeY4M writes a clip of n frames.
func writeY4M(t *testing.T, name string, n int) {
	t.Helper()
	file, err := os.Create(name)
	expect.OK(t, err)
	defer file.Close()
	w := bufio.NewWriter(file)
	fmt.Fprintf(w, "YUV4MPEG2 W%d H%d F10:1 Ip A1:1 C420jpeg\n", drawnWidth, drawnHeight)
	for i := range n {
		p := drawn(i)
		fmt.Fprint(w, "FRAME\n")
		w.Write(p.Y)
		w.Write(p.Cb)
		w.Write(p.Cr)
	}
	expect.OK(t, w.Flush())
}

func asJPEG(t *testing.T, p image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	expect.OK(t, jpeg.Encode(&b, p, &jpeg.Options{Quality: 90}))
	return b.Bytes()
}

// writeAVI writes a clip of motion JPEG; its headers say that it has as many frames as given.
func writeAVI(t *testing.T, name string, declared int, pictures [][]byte) {
	t.Helper()
	u32 := func(values ...uint32) (b []byte) {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		return b
	}
	chunk := func(name string, parts ...[]byte) []byte {
		content := slices.Concat(parts...)
		b := slices.Concat([]byte(name), u32(uint32(len(content))), content)
		return append(b, make([]byte, len(b)%2)...)
	}
	list := func(kind string, parts ...[]byte) []byte {
		return chunk("LIST", slices.Insert(parts, 0, []byte(kind))...)
	}
	n := uint32(declared)
	main := chunk("avih", u32(100_000, 0, 0, 0x10, n, 0, 1, 0, drawnWidth, drawnHeight, 0, 0, 0, 0))
	stream := list("strl",
		chunk("strh", []byte("vidsMJPG"), u32(0, 0, 0, 1, 10, 0, n, 0, 0, 0, 0, 0)),
		chunk("strf", u32(40, drawnWidth, drawnHeight, 1|24<<16), []byte("MJPG"), u32(0, 0, 0, 0, 0)))
	var movie [][]byte
	for _, p := range pictures {
		movie = append(movie, chunk("00dc", p))
	}
	riff := chunk("RIFF", []byte("AVI "), list("hdrl", main, stream), list("movi", movie...))
	expect.OK(t, os.WriteFile(name, riff, 0o644))
}

// wantFrames extracts and holds the pictures to the numbers that they must show.
func wantFrames(t *testing.T, f *FFmpeg, name string, c Config, want []int) *Clip {
	t.Helper()
	clip, err := f.Extract(t.Context(), Source{Name: filepath.Base(name), Path: name}, c)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var got []int
	for _, p := range clip.Pictures {
		got = append(got, shown(t, p))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: the pictures show the frames %v, want %v", name, got, want)
	}
	return clip
}

func TestExtract_PicturesShowTheChosenFrames(t *testing.T) {
	f := installed(t)
	for _, n := range []int{5, 300} {
		name := filepath.Join(t.TempDir(), "-odd name: 'é'.y4m")
		writeY4M(t, name, n)
		clip := wantFrames(t, f, name, DefaultConfig(), choose(n, 26))
		if clip.Record.Decoded != n || clip.Record.Width != drawnWidth || clip.Record.PictureHeight != drawnHeight ||
			clip.Complaint != "" || clip.Record.FrameRate != 10 {
			t.Errorf("%d frames: %+v, %s", n, clip.Record, clip.Complaint)
		}
		for i, at := range clip.Record.Frames {
			if d := float64(at.Time) - float64(choose(n, 26)[i])/10; d < -1e-6 || d > 1e-6 {
				t.Errorf("%d frames: frame %d at %v s", n, at.Number, at.Time)
			}
		}
	}
}

// Frames that are coded in another order than they are shown in, and at irregular times.
func TestExtract_ReorderedAndIrregular(t *testing.T) {
	f := installed(t)
	dir := t.TempDir()
	writeY4M(t, filepath.Join(dir, "in.y4m"), 60)
	for name, args := range map[string][]string{
		"reordered.avi": {"-c:v", "mpeg4", "-bf", "2", "-q:v", "2"},
		"irregular.mkv": {"-c:v", "mpeg4", "-q:v", "2", "-vf", "setpts=(N+N*N/50)/10/TB", "-fps_mode", "passthrough"},
		"picture.gif":   {"-fps_mode", "passthrough"},
	} {
		out := filepath.Join(dir, name)
		convert(t, f, filepath.Join(dir, "in.y4m"), out, args...)
		clip := wantFrames(t, f, out, config(7), choose(60, 7))
		// Frame 55 is at 11.55 s, which the clip rounds to tenths.
		if at := float64(clip.Record.Frames[6].Time); name == "irregular.mkv" && (at < 11.49 || at > 11.61) {
			t.Errorf("%s: frame %d is at %v s, want 11.55", name, clip.Record.Frames[6].Number, at)
		}
	}
}

// convert has ffmpeg make a clip of another.
func convert(t *testing.T, f *FFmpeg, in, out string, args ...string) {
	t.Helper()
	all := slices.Concat([]string{"-nostdin", "-v", "error", "-y", "-i", in}, args, []string{out})
	if text, err := exec.Command(f.Path, all...).CombinedOutput(); err != nil {
		t.Skipf("left out: this ffmpeg cannot make %s: %v: %s", filepath.Base(out), err, text)
	}
}

// The number of frames in the headers must not count, nor frames that cannot be decoded.
func TestExtract_HeadersLie(t *testing.T) {
	f := installed(t)
	var all [][]byte
	for i := range 40 {
		all = append(all, asJPEG(t, drawn(i)))
	}
	name := filepath.Join(t.TempDir(), "a.avi")
	for _, declared := range []int{1, 4000} {
		writeAVI(t, name, declared, all)
		wantFrames(t, f, name, config(6), choose(40, 6))
	}
	// Packets that are no frames: a rubbish one, whose number is missing in what is decoded.
	broken := slices.Clone(all)
	broken[10] = bytes.Repeat([]byte{0x55}, 300)
	writeAVI(t, name, 40, broken)
	var want []int
	for _, n := range choose(39, 6) {
		if n >= 10 {
			n++
		}
		want = append(want, n)
	}
	clip := wantFrames(t, f, name, config(6), want)
	if clip.Record.Decoded != 39 || clip.Complaint == "" {
		t.Errorf("%d frames, complaint %q", clip.Record.Decoded, clip.Complaint)
	}
}

// The size changes midway: frames are counted on, and all pictures have the size of the first.
func TestExtract_SizeChangesMidway(t *testing.T) {
	f := installed(t)
	var stream []byte
	for i := range 30 {
		p := image.Image(drawn(i))
		if i >= 13 {
			p = halved(drawn(i))
		}
		stream = append(stream, asJPEG(t, p)...)
	}
	name := filepath.Join(t.TempDir(), "a.mjpeg")
	expect.OK(t, os.WriteFile(name, stream, 0o644))
	for _, size := range []int{0, 100} {
		c := config(10)
		c.Size = size
		clip := wantFrames(t, f, name, c, choose(30, 10))
		for i, file := range clip.Pictures {
			p, err := jpeg.DecodeConfig(bytes.NewReader(file))
			expect.OK(t, err)
			if p.Width != clip.Record.PictureWidth || p.Height != clip.Record.PictureHeight {
				t.Errorf("picture %d has %d×%d pixels, want %d×%d", i, p.Width, p.Height, clip.Record.PictureWidth,
					clip.Record.PictureHeight)
			}
		}
	}
}

func halved(p *image.YCbCr) image.Image {
	q := image.NewGray(image.Rect(0, 0, drawnWidth/2, drawnHeight/2))
	for y := range drawnHeight / 2 {
		for x := range drawnWidth / 2 {
			q.Pix[y*q.Stride+x] = p.Y[2*y*p.YStride+2*x]
		}
	}
	return q
}

func TestExtract_SizeShrinksTheLongestSide(t *testing.T) {
	f := installed(t)
	name := filepath.Join(t.TempDir(), "a.y4m")
	writeY4M(t, name, 9)
	for size, want := range map[int][2]int{192: {192, 48}, 101: {101, 25}} {
		c := config(3)
		c.Size = size
		r := wantFrames(t, f, name, c, choose(9, 3)).Record
		if r.PictureWidth != want[0] || r.PictureHeight != want[1] || r.Width != 192 || r.Height != 48 {
			t.Errorf("size %d: %d×%d of %d×%d, want %v", size, r.PictureWidth, r.PictureHeight, r.Width, r.Height, want)
		}
	}
}

// A clip that is marked as rotated is rotated, as players do.
func TestExtract_Rotation(t *testing.T) {
	f := installed(t)
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.y4m"), filepath.Join(dir, "out.mp4")
	writeY4M(t, in, 20)
	convert(t, f, in, out, "-c:v", "mpeg4", "-q:v", "2")
	file, err := os.ReadFile(out)
	expect.OK(t, err)
	// The matrix of the track header (ISO 14496-12), 40 bytes into a box of version 0: by a quarter.
	at := bytes.Index(file, []byte("tkhd"))
	if at < 0 || file[at+4] != 0 {
		t.Fatal("no track header of version 0")
	}
	matrix := file[at+4+40 : at+4+76]
	clear(matrix)
	binary.BigEndian.PutUint32(matrix[4:], 0x10000)
	binary.BigEndian.PutUint32(matrix[12:], 0xffff0000)
	binary.BigEndian.PutUint32(matrix[24:], drawnHeight<<16)
	binary.BigEndian.PutUint32(matrix[32:], 0x40000000)
	expect.OK(t, os.WriteFile(out, file, 0o644))
	r := wantFrames(t, f, out, config(5), choose(20, 5)).Record
	if r.Width != drawnHeight || r.Height != drawnWidth || r.PictureWidth != drawnHeight || r.PictureHeight != drawnWidth {
		t.Errorf("%d×%d with pictures of %d×%d, want all turned", r.Width, r.Height, r.PictureWidth, r.PictureHeight)
	}
}

// JPEG means BT.601 and the whole range of values, whatever the clip is coded in.
func TestExtract_Colours(t *testing.T) {
	f := installed(t)
	dir := t.TempDir()
	for name, args := range map[string][]string{
		"601.mkv": {"-vf", "scale=out_color_matrix=bt601:out_range=tv,format=yuv420p",
			"-colorspace", "smpte170m", "-color_range", "tv"},
		"709.mkv": {"-vf", "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p",
			"-colorspace", "bt709", "-color_range", "tv"},
	} {
		out := filepath.Join(dir, name)
		all := slices.Concat([]string{"-nostdin", "-v", "error", "-f", "lavfi", "-i",
			"color=c=0x28a050:s=64x48:d=1:r=5,format=rgb24"}, args, []string{"-c:v", "ffv1", out})
		if text, err := exec.Command(f.Path, all...).CombinedOutput(); err != nil {
			t.Skipf("left out: this ffmpeg cannot make %s: %v: %s", name, err, text)
		}
		clip, err := f.Extract(t.Context(), Source{Name: name, Path: out}, config(1))
		expect.OK(t, err)
		p, err := jpeg.Decode(bytes.NewReader(clip.Pictures[0]))
		expect.OK(t, err)
		r, g, b, _ := p.At(20, 20).RGBA()
		for i, d := range []int{int(r>>8) - 0x28, int(g>>8) - 0xa0, int(b>>8) - 0x50} {
			if d < -4 || d > 4 {
				t.Errorf("%s: colour %x %x %x, want 28 a0 50: channel %d is off by %d", name, r>>8, g>>8, b>>8, i, d)
			}
		}
	}
}

// Files that hold no clip, or a broken one.
func TestExtract_RealFFmpegOddFiles(t *testing.T) {
	f := installed(t)
	dir := t.TempDir()
	noise := filepath.Join(dir, "noise.mp4")
	expect.OK(t, os.WriteFile(noise, bytes.Repeat([]byte("no clip at all. "), 4000), 0o644))
	sound := filepath.Join(dir, "sound.avi")
	writeSound(t, sound)
	headless := filepath.Join(dir, "none.avi")
	writeAVI(t, headless, 0, nil)
	playlist := filepath.Join(dir, "list.m3u8")
	expect.OK(t,
		os.WriteFile(playlist,
			[]byte("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://localhost:1/secret.ts\n#EXT-X-ENDLIST\n"),
			0o644))
	wide := filepath.Join(dir, "wide.y4m")
	expect.OK(t,
		os.WriteFile(wide, slices.Concat([]byte("YUV4MPEG2 W70000 H2 F10:1 C420jpeg\nFRAME\n"), make([]byte, 70000*3)),
			0o644))
	for path, want := range map[string]string{wide: "70000×2 pixels", noise: "Invalid data", sound: "no video",
		headless: "no frames", playlist: "list of other files"} {
		_, err := f.Extract(t.Context(), Source{Name: "a", Path: path}, config(4))
		if !errors.Is(err, ErrClip) || !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
}

// A manifest that is named like a clip must not show the frames of another file.
func TestExtract_RealFFmpegReadsNoManifest(t *testing.T) {
	f := installed(t)
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret.mp4") // newer ffmpegs look at this ending
	writeY4M(t, secret, 3)
	manifest := filepath.Join(dir, "harmless.mp4")
	expect.OK(t, os.WriteFile(manifest, []byte(`<?xml version="1.0"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT1S" minBufferTime="PT1S"
 profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="video/mp4"><Representation id="0"
 bandwidth="1000" width="192" height="48">
<BaseURL>file://`+secret+`</BaseURL></Representation></AdaptationSet></Period>
</MPD>
`), 0o644))
	_, err := f.Extract(t.Context(), Source{Name: "a", Path: manifest}, config(2))
	if !errors.Is(err, ErrClip) || !strings.Contains(err.Error(), "list of other files") {
		t.Errorf("%v", err)
	}
}

// writeSound writes a WAV file under another name.
func writeSound(t *testing.T, name string) {
	t.Helper()
	samples := make([]byte, 8000)
	b := []byte(
		"RIFF\x00\x00\x00\x00WAVEfmt " +
			"\x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data")
	b = append(binary.LittleEndian.AppendUint32(b, uint32(len(samples))), samples...)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)-8))
	expect.OK(t, os.WriteFile(name, b, 0o644))
}
