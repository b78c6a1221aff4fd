package loader

import (
	"errors"
	"testing"
)

func TestClipNames_FindsWhatTablesMean(t *testing.T) {
	var n ClipNames
	for _, clip := range []string{"dog/1.mp4", "cat/1.mp4", "cat/2.mkv", "a.b.webm", "x/s.mp4", "x/s.avi", "still",
		"y/v.mp4"} {
		n.Add(clip)
	}
	for name, want := range map[string]string{
		"dog/1.mp4": "dog/1.mp4", "cat/1": "cat/1.mp4", "2": "cat/2.mkv", "2.mkv": "cat/2.mkv", "2.avi": "cat/2.mkv",
		"/data/clips/cat/1.MP4": "cat/1.mp4", "clips/cat/2": "cat/2.mkv", "a.b": "a.b.webm", "a": "", "bird/1.mp4": "",
		"bird/2.mkv": "", "s.avi": "x/s.avi", "still.mp4": "still", "./y/v": "y/v.mp4", "3": "",
	} {
		i, err := n.Find(name)
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case i < 0 && want != "" || i >= 0 && n.Name(i) != want:
			t.Errorf("%s is clip %d, want %q", name, i, want)
		}
	}
	for _, name := range []string{"1", "1.mp4", "s", "x/s"} {
		if i, err := n.Find(name); !errors.Is(err, ErrSameName) {
			t.Errorf("%s is clip %d, %v; want ErrSameName", name, i, err)
		}
	}
}
