package picture

import (
	"strings"
	"testing"
)

func TestIsName_TakesAnyCaseAndNothingElse(t *testing.T) {
	for name, want := range map[string]bool{
		"a.jpg": true, "b/c.JPEG": true, "d.WebP": true, "e.tiff": true, "f.tar.bmp": true,
		"": false, "jpg": false, "a.jpg.txt": false, "a.heic": false, "a.jpg/b": false,
	} {
		if IsName(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
}

func TestVideoFormat_KnowsVideosFromPictures(t *testing.T) {
	for start, want := range map[string]string{
		"\x1a\x45\xdf\xa3\x01": "Matroska or WebM", "\x00\x00\x00\x20ftypisom": "MP4 or QuickTime",
		"RIFF\x00\x00\x00\x00AVI LIST": "AVI", "\x00\x00\x00\x20ftypavif": "", "\x00\x00\x00\x20ftypheic": "",
		"\xff\xd8\xff": "", "GIF89a": "", "RIFF\x00\x00\x00\x00WEBPVP8 ": "", "": "", "path,labels\n": "",
	} {
		if got := VideoFormat([]byte(start)); got != want {
			t.Errorf("%q is %q, want %q", start, got, want)
		}
	}
	var pic Picture
	err := Decode([]byte("\x1a\x45\xdf\xa3 and more"), &pic)
	if err == nil || !strings.Contains(err.Error(), "it is a video (Matroska or WebM)") ||
		!strings.Contains(err.Error(), "nmn frames") {
		t.Errorf("a video in the place of a picture: %v", err)
	}
	for name, want := range map[string]bool{"a.MP4": true, "b/c.mkv": true, "d.gif": false, "e.jpg": false, "mp4": false} {
		if IsVideoName(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
}
