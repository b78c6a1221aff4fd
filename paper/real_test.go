package paper

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nmn/experiment"
	"nmn/internal/expect"
	"nmn/report"
)

func put(t *testing.T, content string, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	expect.OK(t, os.MkdirAll(filepath.Dir(file), 0o777))
	expect.OK(t, os.WriteFile(file, []byte(content), 0o666))
	return file
}

func object(t *testing.T, v any) string {
	t.Helper()
	b := expect.Value(json.Marshal(v))(t)
	return string(b)
}

// shaped are folders of the shape of COCO and MSR-VTT with fewer pictures and clips, a file that stands for weights.
func shaped(t *testing.T) (s Settings) {
	t.Helper()
	dir := t.TempDir()
	s = Defaults(filepath.Join(dir, "reproduction"))
	s.COCO, s.MSRVTT, s.Init = filepath.Join(dir, "coco"), filepath.Join(dir, "msrvtt"), put(t, "x", dir, "vgg16.pth")
	s.Run.Device, s.Run.Threads = "cpu", 1
	for first, half := range map[int]string{1: "train2014", 1001: "val2014"} {
		var images, captions []map[string]any
		for i := range 6 {
			name := fmt.Sprintf("COCO_%s_%012d.jpg", half, first+i)
			images = append(images, map[string]any{"id": first + i, "file_name": name, "width": 4, "height": 3})
			for c := range 5 {
				captions = append(captions, map[string]any{"id": 10*(first+i) + c, "image_id": first + i, "caption": "a red ball"})
			}
			put(t, "x", s.COCO, half, name)
		}
		put(t, object(t, map[string]any{"images": images, "annotations": captions}), s.COCO, "annotations",
			"captions_"+half+".json")
	}
	put(t, "ball, NN, 9\n", s.COCO, "vocab_words.txt")
	for i := range 5 {
		put(t, "x", s.MSRVTT, "TrainValVideo", fmt.Sprintf("video%d.mp4", i))
	}
	putClips(t, s.MSRVTT, 3, 2, func(int, int) string { return "a man runs" })
	return s
}

// putClips writes annotations of clips in the form of MSR-VTT, with 20 captions each.
func putClips(t *testing.T, dir string, train, validate int, caption func(clip, number int) string) {
	t.Helper()
	var clips, sentences []map[string]any
	for i := range train + validate {
		id, split := fmt.Sprintf("video%d", i), "train"
		if i >= train {
			split = "validate"
		}
		clips = append(clips, map[string]any{"video_id": id, "id": i, "split": split, "category": 1, "url": "u",
			"start time": 0, "end time": 1})
		for c := range 20 {
			sentences = append(sentences, map[string]any{"video_id": id, "sen_id": 20*i + c, "caption": caption(i, c)})
		}
	}
	put(t, object(t, map[string]any{"info": map[string]any{}, "videos": clips, "sentences": sentences}), dir,
		"train_val_videodatainfo.json")
}

// TestEstimate_OfThePapersProtocol plans the real protocol on folders of the right shape.
func TestEstimate_OfThePapersProtocol(t *testing.T) {
	t.Parallel()
	s := shaped(t)
	p := expect.Value(New(s))(t)
	skipped := map[Part]string{}
	for _, part := range p.Parts {
		if part.Skip != "" {
			skipped[part.Name] = part.Skip
		}
	}
	if len(skipped) != 2 || !strings.Contains(skipped[Table3], "lacks the folder frames, which nmn frames writes") {
		t.Errorf("skipped: %v", skipped)
	}
	g := p.Units[0].Grid
	if len(g.ReplaceCaptions) != 5 || g.ReplaceCaptions[4] != .8 || len(g.Arms) != 4 || g.MIL != experiment.BothMIL ||
		g.Config.Net.Weights != s.Init || !strings.HasSuffix(g.Config.Data.Vocabulary, "vocab_words.txt") {
		t.Errorf("grid %+v", g)
	}
	e := expect.Value(p.Estimate(t.Context(), Options{}))(t)
	// 120 runs of 3 or 2 epochs of 82,783 pictures take thousands of hours on processors, and terabytes hold their nets.
	if e.Units[0].Tasks != 120 || e.Time.Hours() < 100 || e.Disk < 1e11 {
		t.Errorf("estimate %+v", e)
	}
	var b bytes.Buffer
	expect.OK(t, report.Write(&b, report.Text, p.Tables(e)...))
	has(t, strings.Join(strings.Fields(b.String()), " "), "skipped, see below", "Skipped on msrvtt",
		"captions_train2014.json", "vgg16.pth", "Nothing was written")
	if _, err := os.Stat(s.Dir); err == nil {
		t.Errorf("%s was written", s.Dir)
	}
}

// TestNew_SkipsPartsWithAWord takes away what the paper's protocol needs, one thing after the other.
func TestNew_SkipsPartsWithAWord(t *testing.T) {
	for says, change := range map[string]func(*Settings){
		"name their folder by `reproduce.coco`": func(s *Settings) { s.COCO = "" },
		"lacks vocab_words.txt":                 func(s *Settings) { remove(t, s.COCO, "vocab_words.txt") },
		"lacks annotations/captions_train2014.json": func(s *Settings) {
			remove(t, s.COCO, "annotations", "captions_train2014.json")
		},
		"lacks the folder val2014":                              func(s *Settings) { remove(t, s.COCO, "val2014") },
		"lacks annotations/captions_train2014.json, the folder": func(s *Settings) { s.COCO = t.TempDir() },
	} {
		s := shaped(t)
		change(&s)
		p := expect.Value(New(s))(t)
		if got := p.Parts[0].Skip; !strings.Contains(got, says) {
			t.Errorf("table1 is skipped because %q; want %q", got, says)
		}
		for _, u := range p.Units {
			t.Errorf("%s is to be trained", u.Title)
		}
		if p.part(Figure3) == nil {
			t.Error("figure3 needs no data, and is skipped")
		}
	}
}

func remove(t *testing.T, path ...string) {
	t.Helper()
	expect.OK(t, os.RemoveAll(filepath.Join(path...)))
}

// TestRun_ShowsWhatWasSkipped writes a page if only the figure without data can be made.
func TestRun_ShowsWhatWasSkipped(t *testing.T) {
	s := shaped(t)
	s.Only, s.COCO = []Part{Table1, Figure3}, t.TempDir()
	p := expect.Value(New(s))(t)
	p.Rename = func(text string) string { return strings.ReplaceAll(text, "`reproduce.only`", "--only") }
	expect.OK(t, expect.ErrorOf(p.Run(t.Context(), Options{})))
	files := written(t, s.Dir)
	for _, name := range []string{PageFile, MarkdownFile} {
		has(t, strings.ReplaceAll(files[name], `\`, ""), "Skipped: ", "captions_train2014.json", "--only table1,figure3")
	}
}
