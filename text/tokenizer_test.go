package text

import (
	"bufio"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"nmn/internal/expect"
)

func TestTokenizer_Rules(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"plain words are lower case", "A Man rides a WAVE", "a man rides a wave"},
		{"final period", "a cat on a bed.", "a cat on a bed ."},
		{"two periods stay two", "a field..", "a field . ."},
		{"ellipsis", "well... ....", "well ... ..."},
		{"spaced ellipsis", "wait . . . no", "wait ... no"},
		{"genitive", "a person's dogs' toys", "a person 's dogs ' toys"},
		{"clitics", "it's they're I'll we've he'd I'm", "it 's they 're i 'll we 've he 'd i 'm"},
		{"negation", "don't CAN'T won't isn't", "do n't ca n't wo n't is n't"},
		{"typographic apostrophe", "the dog’s don’t", "the dog 's do n't"},
		{"typographic quotes", "a “stop” sign", "a `` stop '' sign"},
		{"two words written as one", "cannot gonna Gimme", "can not gon na gim me"},
		{"quotes", `says "stop, now" here`, "says `` stop , now '' here"},
		{"quote behind a word", `says" hi "`, "says '' hi ''"},
		{"quotes around blanks", `a " dog " $ "`, "a '' dog '' $ ''"},
		{"quote before what it opens", `"dog" "5" "$5" "-5"`, "`` dog '' `` 5 '' `` $ 5 '' '' -5 ''"},
		{"quote before a period", `the "Dial".`, "the `` dial '' ."},
		{"single quotes", "the 'no peddling' sign", "the ` no peddling ' sign"},
		{"quote before one letter and a blank", "'A train' and 'I phone'", "' a train ' and ' i phone '"},
		{"o'clock and names", "four o'clock, Travis d'Arnaud, O'Connor.", "four o'clock , travis d'arnaud , o'connor ."},
		{"French article alone", "l' eau d'", "l' eau d'"},
		{"o' alone", "Jack o' lantern", "jack o ' lantern"},
		{"vowel apostrophe vowel", "Ho'ohu Pe'e Hawai'i", "ho'ohu pe'e hawai'i"},
		{"words with an apostrophe", "Dunkin' Donuts y'all s'mores", "dunkin' donuts y' all s'mores"},
		{"you all", "Y'all and y' and Y'ALL", "y' all and y ' and y' all"},
		{"rock 'n' roll", "rock 'n' roll 'em", "rock 'n' roll 'em"},
		{"hyphens", "a post-it-note, 3-way -unique tree- off", "a post-it-note , 3-way - unique tree - off"},
		{"dash", "a cat -- no ----- yes", "a cat -- no ----- yes"},
		{"slashes", "and/or brown / red schoolbus/boat/house/car snowshoes/ skis",
			"and/or brown / red schoolbus/boat/house / car snowshoes / skis"},
		{"numbers", "at 3:15. 1,000 and 3.5 or .5", "at 3:15 . 1,000 and 3.5 or .5"},
		{"units", "at 10:10pm, 5pm 2.5-inch", "at 10:10 pm , 5pm 2.5-inch"},
		{"decades", "the 1950's, 50s and '60s", "the 1950 's , 50s and '60s"},
		{"money, number sign, percent", "$2.00, #213 and 1%", "$ 2.00 , # 213 and 1 %"},
		{"fraction", "3/4 and 1 1/2 cups", "3/4 and 1\u00a01/2 cups"},
		{"runs of marks", "no?? yes!!! what?!", "no ?? yes !!! what ?!"},
		{"brackets", "(a) [b] {c}", "-lrb- a -rrb- -lsb- b -rsb- -lcb- c -rcb-"},
		{"ampersand", "Valve & Hydrant, M&M's", "valve & hydrant , m&m 's"},
		{"missing blank behind a period", "a park.One of them", "a park.one of them"},
		{"missing blank behind a comma", "dogs,cats", "dogs , cats"},
		{"acronym", "in Washington D.C. at 5 p.m.", "in washington d.c. at 5 p.m."},
		{"acronym before a sentence", "in the U.S. The dog", "in the u.s. . the dog"},
		{"street at the end", "on Seventh St.", "on seventh st."},
		{"road at the end", "on Morgan Rd.", "on morgan rd. ."},
		{"abbreviation inside", "carrots, etc. all on top", "carrots , etc. all on top"},
		{"period before a comma", "Hydrant Co., Ltd, here", "hydrant co. , ltd , here"},
		{"blanks of all kinds", " a\tb\nc\u00a0d  ", "a b c d"},
		{"accents", "a CAFÉ crème brûlée", "a café crème brûlée"},
		{"not text", "a \xff\xfe dog \x00 🐶 runs", "a dog runs"},
		{"empty", "", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(Tokenizer{}.Append(nil, c.in), " "); got != c.want {
				t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

func TestTokenizer_AppendsBehindWhatIsThere(t *testing.T) {
	got := Tokenizer{DropPunctuation: true}.Append([]string{"."}, `A "dog", (big)!! runs.`)
	if want := ". a dog -lrb- big -rrb- !! runs"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestIsPunctuation(t *testing.T) {
	for token, want := range map[string]bool{".": true, "''": true, "-lrb-": true, "!!": true, "é": false, "n't": false,
		"3:15": false, "%": true} {
		if IsPunctuation(token) != want {
			t.Errorf("IsPunctuation(%q) = %v", token, !want)
		}
	}
}

func TestTokenizer_AllocatesOnlyTheLowerCaseCopy(t *testing.T) {
	dst := make([]string, 0, 64)
	caption := `A man's dog doesn't "sit" on the U.S. flag, 3:15.`
	if n := testing.AllocsPerRun(100, func() { dst = Tokenizer{}.Append(dst[:0], caption) }); n > 1 {
		t.Errorf("%g allocations for a caption, want 1", n)
	}
}

// The pairs of captions and their tokens that Stanford's PTBTokenizer 3.4.1 wrote.
func TestTokenizer_EqualsPTBTokenizer(t *testing.T) {
	pairs, bytes := ptbPairs(t)
	wrong := 0
	for _, p := range pairs {
		if got := strings.Join(Tokenizer{}.Append(nil, p[0]), " "); got != strings.TrimSpace(p[1]) {
			if wrong++; wrong <= 20 {
				t.Errorf("%q\n got %q\nwant %q", p[0], got, p[1])
			}
		}
	}
	t.Logf("%d of %d captions (%d bytes) equal", len(pairs)-wrong, len(pairs), bytes)
}

// ptbPairs reads caption-metrics/ptb/pairs.tsv.gz under NMN_DATA.
func ptbPairs(t testing.TB) (pairs [][2]string, bytes int) {
	t.Helper()
	root := os.Getenv("NMN_DATA")
	if root == "" {
		t.Skip("NMN_DATA is not set: skipping the comparison with PTBTokenizer on COCO captions")
	}
	for i, line := range gzipLines(t, filepath.Join(root, "caption-metrics", "ptb", "pairs.tsv.gz")) {
		in, want, ok := strings.Cut(line, "\t")
		if !ok {
			t.Fatalf("line %d of pairs.tsv.gz has no tab", i+1)
		}
		pairs, bytes = append(pairs, [2]string{in, want}), bytes+len(in)
	}
	return pairs, bytes
}

func gzipLines(t testing.TB, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	expect.OK(t, err)
	defer f.Close()
	z, err := gzip.NewReader(f)
	expect.OK(t, err)
	var lines []string
	for sc := bufio.NewScanner(z); ; {
		if !sc.Scan() {
			if sc.Err() != nil && sc.Err() != io.EOF {
				t.Fatal(sc.Err())
			}
			return lines
		}
		lines = append(lines, sc.Text())
	}
}

func FuzzTokenizer(f *testing.F) {
	for _, s := range []string{"A man's dog doesn't sit.", `"D.C." 3:15 1 1/2 and/or 'n' (:-) ...`,
		"’“ \xff é½ St. U.S. The"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tokens := Tokenizer{}.Append(nil, s)
		for _, token := range tokens {
			if token == "" || strings.ContainsAny(token, " \t\n\r") {
				t.Fatalf("%q gives the token %q", s, token)
			}
			if utf8.ValidString(s) && !utf8.ValidString(token) {
				t.Fatalf("%q gives %q, which is not UTF-8", s, token)
			}
		}
		if len(tokens) > 3*len(s) {
			t.Fatalf("%d tokens of %d bytes", len(tokens), len(s))
		}
		dropped := Tokenizer{DropPunctuation: true}.Append(nil, s)
		if len(dropped) > len(tokens) {
			t.Fatal("dropping punctuation added tokens")
		}
	})
}

func BenchmarkTokenizer(b *testing.B) {
	captions := []string{"A man is riding a wave on top of a surfboard.",
		"Two dogs play with a woman's red frisbee, in the grass",
		`A sign that says "Don't walk" hangs at the corner of Main St.`}
	bytes := 0
	for _, c := range captions {
		bytes += len(c)
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	var dst []string
	for b.Loop() {
		for _, c := range captions {
			dst = Tokenizer{}.Append(dst[:0], c)
		}
	}
	b.ReportMetric(float64(b.N*len(captions))/b.Elapsed().Seconds(), "captions/s")
}
