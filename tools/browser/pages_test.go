package browser

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// made is the folder of the pages, or empty if there is none yet.
var made string

// pages are the pages that nmn writes, by name: runs of several kinds, experiments, a reproduction, audits, rates.
func pages(t *testing.T) map[string]string {
	t.Helper()
	if testing.Short() {
		t.Skip("pages are not made in short mode")
	}
	all, err := makePages()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// names lists the names of the pages in their order.
func names(all map[string]string) []string { return slices.Sorted(maps.Keys(all)) }

var makePages = sync.OnceValues(func() (map[string]string, error) {
	dir, err := os.MkdirTemp("", "nmn-pages")
	if err != nil {
		return nil, err
	}
	made = dir
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	for _, make := range []func(string) error{writePictures, writeScores, writeCaptions, writeFeatures} {
		if err := make(dir); err != nil {
			return nil, err
		}
	}
	scenes := strings.Fields("--set data.train_size=96 --set data.validation_size=32 --set data.test_size=48 --set " +
		"net.width=0.5 --device cpu --threads 1 -q")
	with := func(common []string, more ...string) []string { return append(slices.Clone(more), common...) }
	for _, args := range [][]string{
		with(scenes, "train", "--run-dir", at("captions-run")),
		with(scenes, "train", "--arm", "nmn-fd", "--epochs", "2", "--run-dir", at("learnt")),
		with(scenes, "train", "--arm", "forward-true", "--epochs", "1", "--run-dir", at("told")),
		{"train", "-q", at("pictures", "list.csv"), "--net", "scenes", "--set", "data.validation_share=0",
			"--set", "data.test_share=0", "--epochs", "3", "--run-dir", at("unvalidated"), "--device", "cpu", "--threads", "1"},
		{"train", "-q", "--preset", "features", at("features.csv"), "--labels", at("features-labels.csv"),
			"--run-dir", at("features"), "--device", "cpu", "--threads", "1"},
		with(scenes, "experiment", "--epochs", "1", "--mil", "both", "--seeds", "1,2,3", "--arms",
			"stage1,baseline,nmn-fi,held-rates", "--run-dir", at("three seeds")),
		with(scenes, "experiment", "--epochs", "1", "--replace-captions", "0.2,0.4", "--arms", "stage1,baseline,nmn-fi",
			"--run-dir", at("one seed")),
		{"reproduce", "-q", "--size", "smoke", "--only", "table1,table4,figure3,figure4,observed,em", "--device", "cpu",
			"--threads", "1", "--seeds", "1", "--run-dir", at("reproduction")},
		{"noise", "report", at("learnt"), "--output", at("rates-of-bags.html")},
		{"noise", "report", at("three seeds", "noise-40", "seed-1", "nmn-fi"), "--output", at("rates.html")},
		{"audit", "--scores", at("scores.csv"), "--labels", at("labels.csv"), "--images", at("pictures"), "--page",
			at("audit.html")},
		{"audit", "--scores", at("scores.csv"), "--labels", at("labels.csv"), "--page", at("audit-bare.html")},
		{"audit", "captions", at("captions.csv"), "--images", at("pictures"), "--page",
			at("captions.html")},
	} {
		if err := run(args...); err != nil {
			return nil, err
		}
	}
	all := map[string]string{}
	for _, name := range []string{"captions-run", "learnt", "told", "unvalidated", "features"} {
		all["run-"+name] = at(name, "report.html")
	}
	for _, name := range []string{"three seeds", "one seed"} {
		all["experiment-"+strings.ReplaceAll(name, " ", "-")] = at(name, "index.html")
	}
	all["reproduction"] = at("reproduction", "index.html")
	for _, name := range []string{"rates-of-bags", "rates", "audit", "audit-bare", "captions"} {
		all[name] = at(name + ".html")
	}
	return all, nil
})

func run(args ...string) error {
	program, err := nmn()
	if err != nil {
		return err
	}
	if out, err := exec.Command(program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("nmn %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

var (
	things  = []string{"cat", "dog", "kite", "a rather long name of a class"}
	colours = []color.RGBA{{200, 60, 50, 255}, {60, 160, 80, 255}, {60, 90, 210, 255}, {220, 180, 60, 255}}
)

const bags = 120

// writePictures writes a picture for each bag, of the colour of its thing, and a manifest of them.
func writePictures(dir string) error {
	random := rand.New(rand.NewPCG(1, 1))
	if err := os.Mkdir(filepath.Join(dir, "pictures"), 0o777); err != nil {
		return err
	}
	rows := [][]string{{"path", "labels"}}
	for i := range bags {
		m := image.NewRGBA(image.Rect(0, 0, 64+16*(i%3), 64))
		of, back := colours[i%len(things)], uint8(200+random.IntN(40))
		for y := range m.Rect.Dy() {
			for x := range m.Rect.Dx() {
				c := color.RGBA{back, back, back, 255}
				if math.Hypot(float64(x-m.Rect.Dx()/2), float64(y-32)) < 22 {
					c = of
				}
				m.SetRGBA(x, y, c)
			}
		}
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			return err
		}
		name := fmt.Sprintf("%03d.png", i)
		if err := os.WriteFile(filepath.Join(dir, "pictures", name), b.Bytes(), 0o666); err != nil {
			return err
		}
		label := i % len(things)
		if random.IntN(8) == 0 {
			label = random.IntN(len(things))
		}
		rows = append(rows, []string{name, things[label]})
	}
	return writeCSV(filepath.Join(dir, "pictures", "list.csv"), rows)
}

// writeScores writes scores of a good classifier, and labels with some missing and some made up.
func writeScores(dir string) error {
	random := rand.New(rand.NewPCG(2, 2))
	header := append([]string{"id"}, things...)
	scores, labels := [][]string{header}, [][]string{header}
	for i := range bags {
		s, z := []string{fmt.Sprintf("%03d", i)}, []string{fmt.Sprintf("%03d", i)}
		for c := range things {
			there := i%len(things) == c
			o := -3 + random.NormFloat64()
			if there {
				o = 3 + random.NormFloat64()
			}
			if random.Float64() < .12 {
				there = !there
			}
			label := "0"
			if there {
				label = "1"
			}
			s, z = append(s, fmt.Sprintf("%.4f", 1/(1+math.Exp(-o)))), append(z, label)
		}
		scores, labels = append(scores, s), append(labels, z)
	}
	if err := writeCSV(filepath.Join(dir, "scores.csv"), scores); err != nil {
		return err
	}
	return writeCSV(filepath.Join(dir, "labels.csv"), labels)
}

// writeCaptions writes five captions for each picture. Some belong to another one.
func writeCaptions(dir string) error {
	random := rand.New(rand.NewPCG(3, 3))
	said := []string{"dog grass ball park runs", "train tracks station smoke rails", "cake candles table knife frosting",
		"surfer wave board ocean wetsuit", "kitchen oven sink cabinets counter", "giraffe zoo fence trees neck"}
	rows := [][]string{{"image", "caption", "id"}}
	for i := range bags / 2 {
		for c := range 5 {
			about := i % len(said)
			if random.Float64() < .15 {
				about = random.IntN(len(said))
			}
			words := strings.Fields(said[about])
			random.Shuffle(len(words), func(a, b int) { words[a], words[b] = words[b], words[a] })
			rows = append(rows, []string{fmt.Sprintf("%03d", i), "a picture of the " + strings.Join(words[:3], " "),
				fmt.Sprintf("%d-%d", i, c)})
		}
	}
	return writeCSV(filepath.Join(dir, "captions.csv"), rows)
}

// writeFeatures writes vectors of three classes, and labels that have no part of speech.
func writeFeatures(dir string) error {
	random := rand.New(rand.NewPCG(4, 4))
	features, labels := [][]string{{"id"}}, [][]string{{"id", "class 1", "class 2", "class 3"}}
	for d := range 8 {
		features[0] = append(features[0], fmt.Sprintf("f%d", d))
	}
	for i := range 300 {
		row, z := []string{fmt.Sprint(i)}, []string{fmt.Sprint(i)}
		for d := range 8 {
			v := random.NormFloat64()
			if d%3 == i%3 {
				v += 2
			}
			row = append(row, fmt.Sprintf("%.4f", v))
		}
		for c := range 3 {
			there := i%3 == c
			if random.Float64() < .15 {
				there = !there
			}
			z = append(z, map[bool]string{true: "1", false: "0"}[there])
		}
		features, labels = append(features, row), append(labels, z)
	}
	if err := writeCSV(filepath.Join(dir, "features.csv"), features); err != nil {
		return err
	}
	return writeCSV(filepath.Join(dir, "features-labels.csv"), labels)
}

func writeCSV(path string, rows [][]string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	if err := w.WriteAll(rows); err != nil {
		return err
	}
	return f.Close()
}
