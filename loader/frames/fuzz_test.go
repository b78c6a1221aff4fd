package frames

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func FuzzListing(f *testing.F) {
	head := "#software: Lavf59.27.100\n#tb 0: 1/1000000\n#media_type 0: video\n#codec_id 0: " +
		"wrapped_avframe\n#dimensions 0: 640x480\n#sar 0: 0/1\n"
	f.Add([]byte(head + "0,          0,          0,    33333,      472, 0xa4cb184a\n0,      33000,      NOPTS,    " +
		"33333,      472, 0x4bf31a13, F=0x0, S=1, 4, 0x1\n"))
	f.Add([]byte(head + "0, -9223372036854775808, -9223372036854775808, 1, 1, 0x0"))
	f.Fuzz(func(t *testing.T, b []byte) {
		l := listing{wanted: []int{0, 1, 3}}
		if err := l.read(bytes.NewReader(b)); err != nil {
			return
		}
		if l.count > bytes.Count(b, []byte("\n")) || len(l.times) > 3 || len(l.times) > l.count {
			t.Fatalf("%d frames with %d times", l.count, len(l.times))
		}
		if l.count > 0 && (l.width < 1 || l.height < 1 || l.tick < 1 || l.ticks < 1) {
			t.Fatalf("%d frames of %d×%d, tick %d/%d", l.count, l.width, l.height, l.tick, l.ticks)
		}
	})
}

func FuzzY4M(f *testing.F) {
	f.Add([]byte("YUV4MPEG2 W2 H3 F30:1 Ip A0:0 C420mpeg2 XYSCSS=420MPEG2 XCOLORRANGE=FULL\nFRAME\n123456abABFRAME " +
		"Ixyz\n123456abAB"))
	f.Add([]byte("YUV4MPEG2 H1 W1 F0:0 C420p10\nFRAME\n1"))
	f.Fuzz(func(t *testing.T, b []byte) {
		y, err := newY4M(bytes.NewReader(b), 1000)
		if err != nil {
			return
		}
		for {
			p, err := y.next()
			if err != nil {
				break
			}
			if got := p.Bounds().Dx() * p.Bounds().Dy(); got < 1 || got > 1000 || len(p.Y) != got {
				t.Fatalf("a frame of %v", p.Bounds())
			}
		}
		if y.read > 0 && y.read*(len("FRAME\n")+y.width*y.height) > len(b) {
			t.Fatalf("%d frames of %d×%d in %d bytes", y.read, y.width, y.height, len(b))
		}
	})
}

func FuzzParseList(f *testing.F) {
	f.Add([]byte("a.mp4\n# no clip\n\n  b/../c.avi \n/absolute/d.mkv\n"))
	f.Add([]byte("a.mp4\na.mp4\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		all, err := parseList(bytes.NewReader(b), "lists")
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, s := range all {
			if s.Name == "" || seen[s.Name] || !filepath.IsAbs(s.Path) && s.Path != filepath.Join("lists",
				filepath.FromSlash(s.Name)) {
				t.Fatalf("clip %+v", s)
			}
			seen[s.Name] = true
		}
	})
}

func FuzzVersion(f *testing.F) {
	f.Add("ffmpeg version 5.1.9 Copyright\nlibavformat    59. 27.100 / 59. 27.100\n")
	f.Fuzz(func(t *testing.T, text string) {
		if version, err := parseVersion(text); err == nil && (version == "" || !strings.Contains(text, version)) {
			t.Fatalf("version %q", version)
		}
	})
}

// JPEG has 4:2:0 in 8 bits: frames of any other layout would be read as pictures of noise.
func TestY4M_RefusesOtherLayouts(t *testing.T) {
	read := func(layout string) error {
		_, err := newY4M(strings.NewReader("YUV4MPEG2 W16 H8 F25:1 "+layout+"\n"), 1000)
		return err
	}
	for _, layout := range []string{"", "C420", "C420jpeg", "C420mpeg2", "C420paldv"} {
		if err := read(layout); err != nil {
			t.Errorf("layout %q: %v", layout, err)
		}
	}
	for _, layout := range []string{"C422", "C444", "C411", "Cmono", "C420p10", "C420p12", "C422p10"} {
		if err := read(layout); err == nil || !strings.Contains(err.Error(), `"`+layout+`"`) ||
			!strings.Contains(err.Error(), "want 8 bits and 4:2:0") {
			t.Errorf("layout %q: error %v", layout, err)
		}
	}
}
