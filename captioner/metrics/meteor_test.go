package metrics

import (
	"bufio"
	"compress/gzip"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nmn/internal/expect"
)

// resources writes a folder of METEOR data.
func resources(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		expect.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		var b strings.Builder
		if strings.HasSuffix(name, ".gz") {
			z := gzip.NewWriter(&b)
			_, err := z.Write([]byte(content))
			expect.OK(t, err)
			expect.OK(t, z.Close())
		} else {
			b.WriteString(content)
		}
		expect.OK(t, os.WriteFile(path, []byte(b.String()), 0o644))
	}
	return dir
}

// wordFiles are words in METEOR's layout: geese and hens are birds, quickly is said by at once.
func wordFiles() map[string]string {
	return map[string]string{
		"function/english.words":     "the\na\n",
		"synonym/english.synsets.gz": "goose\n7 9\nbird\n7\nhen\n8 7\nrun\n3\n",
		"synonym/english.exceptions": "goose\ngeese\n",
		"data/paraphrase-en.gz":      "0.5\nquickly\nat once\n0.25\nat once\nquickly\n",
	}
}

func TestMeteor_ModulesMatchInTheirOrder(t *testing.T) {
	m, err := LoadMeteor(resources(t, wordFiles()))
	expect.OK(t, err)
	if m.Modules() != "exact stem synonym paraphrase" {
		t.Errorf("modules %s", m.Modules())
	}
	c := m.aligner().align(strings.Fields("the geese running at once home"), strings.Fields("a bird runs quickly home"))
	want := meteorCount{length: [2]float64{6, 5}, functions: [2]float64{1, 1}, chunks: 1}
	want.content[0] = [allModules]float64{exact: 1, stem: 1, synonym: 1, paraphrase: 2}
	want.content[1] = [allModules]float64{exact: 1, stem: 1, synonym: 1, paraphrase: 1}
	if c != want {
		t.Errorf("%+v, want %+v", c, want)
	}
	// By hand: P = .75 (1 + .6 + .8 + .6·2)/(.75·5 + .25), R = .75 (1 + .6 + .8 + .6)/(.75·4 + .25).
	p, r := .75*3.6/4, .75*3/3.25
	frag := 1 / 4.5
	near(t, "score", c.score(4), 1/(.15/p+.85/r)*(1-.6*math.Pow(frag, .2)), 1e-12)
}

func TestMeteor_EqualCaptionsScoreOneAndForeignOnesNothing(t *testing.T) {
	a := NewMeteor().aligner()
	same := strings.Fields("a man rides a horse on a beach")
	c := a.align(same, same)
	near(t, "equal captions", c.score(2), 1, 1e-12)
	c = a.align(same, strings.Fields("two dogs sleep"))
	near(t, "nothing in common", c.score(2), 0, 0)
	c = a.align(nil, same)
	near(t, "no words", c.score(2), 0, 0)
}

// The words of a repeated phrase are matched so that the fewest chunks remain.
func TestMeteor_AlignmentPrefersFewChunks(t *testing.T) {
	a := NewMeteor().aligner()
	c := a.align(strings.Fields("the cat and the dog"), strings.Fields("the dog"))
	if c.chunks != 1 || c.matched(0) != 2 {
		t.Errorf("%+v, want the two words in one chunk", c)
	}
}

func TestMeteor_Normalise(t *testing.T) {
	m := NewMeteor()
	m.prefixes = map[string]bool{"mr": false, "no": true}
	for in, want := range map[string]string{
		"a man rides":                    "a man rides",
		"well-known u.s.-based 3,000":    "well known us based 3,000", // u.s. is followed by a word
		"isn't it 1990's":                "isn 't it 1990 's",
		"the dog 's bone":                "the dog ' s bone",
		"mr. x no. 7 no. end stop.":      "mr. x no. 7 no. end stop .",
		"wait ... what?":                 "wait ... what ?",
		"red,white and $5":               "red , white and $ 5",
		"he said ``yes''":                "he said \" yes \"",
		"caf\u00e9 \u2013 bar a -- b":    "caf\u00e9 - bar a - b",
		"4-door (blue) car_wash 50% a.b": "4 door ( blue ) car _ wash 50 % a.b",
	} {
		if got := strings.Join(m.normalise(strings.Fields(in)), " "); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestLoadMeteor_NamesWhatIsWrong(t *testing.T) {
	with := func(name, content string) string {
		files := wordFiles()
		files[name] = content
		return resources(t, files)
	}
	without := func(names ...string) string {
		files := wordFiles()
		for _, name := range names {
			delete(files, name)
		}
		return resources(t, files)
	}
	for want, dir := range map[string]string{
		"there is no english.words":           without("function/english.words"),
		"no english.synsets":                  without("synonym/english.synsets.gz"),
		"synsets.gz, line 2: a set":           with("synonym/english.synsets.gz", "goose\nseven\n"),
		"english.synsets ends within":         with("synonym/english.synsets.gz", "goose\n7\nbird\n"),
		"line 1: a probability is":            with("data/paraphrase-en.gz", "quickly\nat once\n.5\n"),
		"ends within a pair, at line 2":       with("data/paraphrase-en.gz", ".5\nquickly\n"),
		"english.exceptions ends within":      with("synonym/english.exceptions", "goose\n"),
		"synsets.gz: gzip: invalid header":    broken(t),
		"english.words, after line 0: captio": with("function/english.words", strings.Repeat("x", 2<<20)),
	} {
		if _, err := LoadMeteor(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	m, err := LoadMeteor(without("synonym/english.synsets.gz", "synonym/english.exceptions", "data/paraphrase-en.gz"))
	if err != nil || m.Modules() != "exact stem" {
		t.Errorf("without synonyms: %v, %v", m, err)
	}
	if _, err := LoadMeteor(filepath.Join(t.TempDir(), "no")); !errors.Is(err, ErrInput) {
		t.Errorf("no folder: %v", err)
	}
}

func broken(t *testing.T) string {
	dir := resources(t, wordFiles())
	expect.OK(t, os.WriteFile(filepath.Join(dir, "synonym", "english.synsets.gz"), []byte("no gzip, though named so"),
		0o644))
	return dir
}

// The stems come from Snowball's own list.
func TestStemmer_SnowballsList(t *testing.T) {
	dir := os.Getenv("NMN_DATA")
	if dir == "" {
		t.Skip("NMN_DATA names no folder with stemmer/english_pairs.tsv.gz")
	}
	f, err := os.Open(filepath.Join(dir, "stemmer", "english_pairs.tsv.gz"))
	expect.OK(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	expect.OK(t, err)
	s, lines := newStemmer(), bufio.NewScanner(z)
	var differ []string
	n := 0
	for ; lines.Scan(); n++ {
		word, want, _ := strings.Cut(lines.Text(), "\t")
		if got := s.stem(word); got != want {
			differ = append(differ, word+" > "+got+", want "+want)
		}
	}
	t.Logf("%d of %d words have another stem: %s", len(differ), n, strings.Join(differ[:min(20, len(differ))], "; "))
	if n < 10000 || len(differ) > n/200 {
		t.Errorf("%d of %d words have another stem", len(differ), n)
	}
}

func TestSynonyms_Senses(t *testing.T) {
	s := &synonyms{sets: map[string][]int32{"goose": {7, 9}, "fox": {1}, "try": {2}, "bake": {3}, "glass": {4}},
		bases: map[string][]string{"geese": {"goose"}}}
	for word, want := range map[string][]int32{"geese": {7, 9}, "foxes": {1}, "tries": {2}, "baking": {3}, "glass": {4},
		"bas": nil, "xyz": nil} {
		if got := s.senses(word); !slices.Equal(got, want) {
			t.Errorf("senses of %s are %v, want %v", word, got, want)
		}
	}
}
