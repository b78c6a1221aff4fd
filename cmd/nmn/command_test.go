package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nmn/captioner/session"
	"nmn/internal/expect"
	"nmn/internal/setting"
	"nmn/run"
)

var rewrite = flag.Bool("update", false, "rewrite the golden files")

// skipShort leaves a test to go test without -short.
func skipShort(t *testing.T, why string) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: " + why)
	}
}

// called is what a command line gave.
type called struct {
	code     int
	out, err string
}

// call runs a command line as a shell would, without a terminal.
func call(t *testing.T, args ...string) called {
	t.Helper()
	return callIn(t, t.Context(), args...)
}

func callIn(t *testing.T, ctx context.Context, args ...string) called {
	t.Helper()
	return callTo(ctx, func([]byte) {}, args...)
}

// callTo shows watch what the program writes to standard error, before the program goes on.
func callTo(ctx context.Context, watch func([]byte), args ...string) called {
	var out bytes.Buffer
	err := watched{watch: watch}
	code := execute(ctx, args, &terminal{in: strings.NewReader(""), out: &out, err: &err,
		getenv: func(string) string { return "" }})
	return called{code, out.String(), err.String()}
}

// watched is a buffer that shows each write.
type watched struct {
	bytes.Buffer
	watch func([]byte)
}

func (w *watched) Write(p []byte) (int, error) {
	w.watch(p)
	return w.Buffer.Write(p)
}

// must runs a command line that succeeds, and returns its standard output.
func must(t *testing.T, args ...string) string {
	t.Helper()
	return succeeds(t, args...).out
}

// succeeds runs a command line that succeeds.
func succeeds(t *testing.T, args ...string) called {
	t.Helper()
	c := call(t, args...)
	if c.code != exitOK {
		t.Fatalf("nmn %s: exit code %d: %s", strings.Join(args, " "), c.code, c.err)
	}
	return c
}

// wantCode checks for an exit code and parts of standard error.
func wantCode(t *testing.T, c called, code int, contains ...string) {
	t.Helper()
	if c.code != code {
		t.Errorf("exit code %d, want %d; %s", c.code, code, c.err)
	}
	wantParts(t, c.err, contains...)
}

func wantOK(t *testing.T, c called, contains ...string) {
	t.Helper()
	wantCode(t, c, exitOK, contains...)
}

func wantFailure(t *testing.T, c called, contains ...string) {
	t.Helper()
	wantCode(t, c, exitFailure, contains...)
}

// tiny makes a command line of training that takes a second, on the CPU unless another device is given.
func tiny(command string, args ...string) []string {
	return append([]string{command, "--set", "data.train_size=96", "--set", "data.validation_size=32", "--set",
		"data.test_size=48",
		"--epochs", "1", "--set", "net.width=0.5", "--device", "cpu", "--threads", "1"}, args...)
}

// goOn makes a command line that goes on with the run in a folder, by the settings that it has there.
func goOn(dir string, more ...string) []string {
	return append([]string{"train", "--config", filepath.Join(dir, run.ConfigFile), "--run-dir", dir}, more...)
}

// wantUsage checks for exit code 2, one line on standard error and nothing on standard output.
func wantUsage(t *testing.T, c called, contains ...string) {
	t.Helper()
	wantCode(t, c, exitUsage, contains...)
	if c.out != "" {
		t.Errorf("standard output %q", c.out)
	}
	if strings.Count(c.err, "\n") != 1 || !strings.HasPrefix(c.err, "nmn: ") {
		t.Errorf("standard error %q, want one line that starts with nmn:", c.err)
	}
}

// wantParts checks that a text has all parts.
func wantParts(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%.8000s", part, text)
		}
	}
}

func write[T string | []byte](t testing.TB, path string, content T) {
	t.Helper()
	expect.OK(t, os.WriteFile(path, []byte(content), 0o666))
}

// written writes a file in a new folder and returns its path.
func written[T string | []byte](t testing.TB, name string, content T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	write(t, path, content)
	return path
}

// readBytes reads a file by the elements of its path.
func readBytes(t testing.TB, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	expect.OK(t, err)
	return data
}

func read(t testing.TB, path ...string) string { return string(readBytes(t, path...)) }

// outcomeOf is the result of a finished run.
func outcomeOf(t testing.TB, dir string) *run.Outcome {
	t.Helper()
	o, err := run.ReadOutcome(dir)
	if err != nil || o == nil {
		t.Fatal(dir, o, err)
	}
	return o
}

func readJSON(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
	return v
}

func readCSV(t *testing.T, text string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	expect.OK(t, err)
	return rows
}

// tableOf is a table of an experiment in JSON.
type tableOf struct {
	Title string
	Rows  []map[string]any
}

func readTables(t *testing.T, text string) (tables []tableOf) {
	t.Helper()
	expect.OK(t, json.Unmarshal([]byte(text), &tables))
	return tables
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		expect.OK(t, os.MkdirAll("testdata", 0o777))
		write(t, path, got)
	}
	want := readBytes(t, path)
	if got != string(want) {
		t.Errorf("%s has changed (go test ./cmd/nmn -update rewrites it); now:\n%s", path, got)
	}
}

func TestRoot_HelpIsGolden(t *testing.T) { golden(t, "help.txt", must(t, "--help")) }

// TestReference_TellsEveryCommand holds docs/reference/cli.md to the help of the commands.
func TestReference_TellsEveryCommand(t *testing.T) {
	holdPage(t, "cli.md", reference(t))
}

// bounds are the words of a range.
var bounds = regexp.MustCompile(`^(at least|more than) -?[\d.e]+( and (at most|less than) [\d.e]+)?$`)

// TestReference_TellsEverySetting holds docs/reference/settings.md to the declarations of the settings.
func TestReference_TellsEverySetting(t *testing.T) {
	page := settingsReference()
	holdPage(t, "settings.md", page)
	for line := range strings.Lines(page) {
		if cells := strings.Split(line, "|"); strings.HasPrefix(line, "| `") && len(strings.Fields(cells[2])) > 16 {
			t.Errorf("%s: %s has more than 16 words", cells[1], cells[2])
		}
	}
	for _, config := range []any{&run.Config{}, &session.Config{}} {
		for _, d := range setting.Describe(config) {
			if d.Help == "" && !slices.Contains(records, d.Key) {
				t.Errorf("%s has no help", d.Key)
			}
			if limits := d.Limits(); d.Values == nil && limits != "" && !bounds.MatchString(limits) {
				t.Errorf("the range of %s reads %q", d.Key, limits)
			}
		}
	}
}

// holdPage holds a page of docs to what is generated.
func holdPage(t *testing.T, name, want string) {
	t.Helper()
	path := filepath.Join("..", "..", "docs", "reference", name)
	if *rewrite {
		write(t, path, want)
	}
	got := readBytes(t, path)
	if string(got) != want {
		t.Errorf("%s is not what is generated; go test ./cmd/nmn -run Reference -update rewrites it", path)
	}
}

// A command has at most 40 flags, including the flags of all commands. Everything else is a setting.
func TestCommands_HaveFewFlags(t *testing.T) {
	var count func(c *cobra.Command)
	count = func(c *cobra.Command) {
		n := 1 // --help
		for _, flags := range []*pflag.FlagSet{c.LocalNonPersistentFlags(), c.PersistentFlags(), c.InheritedFlags()} {
			flags.VisitAll(func(f *pflag.Flag) {
				if !f.Hidden && f.Name != "help" {
					n++
				}
			})
		}
		if n > 40 {
			t.Errorf("%s has %d flags", c.CommandPath(), n)
		}
		for _, sub := range c.Commands() {
			count(sub)
		}
	}
	count(newRoot(&program{terminal: systemTerminal(nil)}))
}

// reference is the introduction and then the help of each command.
func reference(t *testing.T) string {
	t.Helper()
	introduction := readBytes(t, filepath.Join("testdata", "cli_introduction.md"))
	var b strings.Builder
	b.Write(introduction)
	var add func(c *cobra.Command)
	root := newRoot(&program{terminal: systemTerminal(nil)})
	add = func(c *cobra.Command) {
		if c.Name() == "completion" || c.Name() == "help" || c.Hidden {
			return
		}
		if c.HasParent() {
			shared := hideShared(root, c)
			var help strings.Builder
			describe(&help, c, 100, true, func(s string) string { return s })
			text, _, _ := strings.Cut(help.String(), "Messages:\n") // all commands have these flags
			fmt.Fprintf(&b, "\n## %s\n\n```text\n%s\n```\n", c.CommandPath(), strings.TrimRight(text, "\n"))
			if len(shared) > 0 {
				fmt.Fprintf(&b, "\nAs in [nmn train](#nmn-train): `%s`.\n", strings.Join(shared, "`, `"))
			}
		}
		for _, sub := range c.Commands() {
			add(sub)
		}
	}
	add(root)
	return b.String()
}

// hideShared hides the flags of a command that nmn train explains in the same words, and returns them.
func hideShared(root, cmd *cobra.Command) (shared []string) {
	train, _, _ := root.Find([]string{"train"})
	if cmd == train {
		return nil
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if same := train.Flag(f.Name); same != nil && same.Usage == f.Usage && same.DefValue == f.DefValue {
			f.Hidden, shared = true, append(shared, "--"+f.Name)
		}
	})
	return shared
}

func TestRoot_EveryCommandHasExamplesAndGroups(t *testing.T) {
	root := newRoot(&program{terminal: systemTerminal(nil)})
	for _, c := range root.Commands() {
		if c.Example == "" {
			t.Errorf("%s has no example", c.Name())
		}
		groups, _ := groupsOf(c, true)
		for _, r := range groups {
			if r.name == otherGroup && len(r.flags.FlagUsages()) > 0 && r.flags.Lookup("help") == nil &&
				r.flags.Lookup("verbose") == nil {
				t.Errorf("%s has flags without a heading:\n%s", c.Name(), r.flags.FlagUsages())
			}
		}
	}
}

func TestUsage_MistakesGiveExitCode2OnOneLine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"trian"}, "did you mean train"},
		{[]string{"train", "--no-such-flag"}, "no-such-flag"},
		{[]string{"train", "--batch-size", "many"}, "batch-size"},
		{[]string{"train", "--arm", "gan"}, "forward, forward-true, asl, ll-r, ll-ct, pruned or clean"},
		{[]string{"train", "--learning-rate", "-1"}, "--learning-rate is -1"},
		{[]string{"train", "--noise", "1.5"}, "noise"},
		{[]string{"train", "--preset", "mnist"}, "scenes, moving-scenes, paper-coco, paper-msrvtt or features"},
		{[]string{"train", "--set", "data.set=captions"}, "give data.captions (caption file"},
		{[]string{"train", "scenes", "surplus"}, "with a column split that holds train"},
		{[]string{"train", "--device", "tpu"}, "tpu"},
		{[]string{"train", "--precision", "fp64"}, "auto, fp32"},
		{[]string{"train", "--precision", "tf32", "--device", "cpu"}, "the CPU computes in fp32"},
		{[]string{"train", "--precision", "bf16", "--device", "cpu"}, "the CPU computes in fp32, except features"},
		{tiny("train", "--metrics-addr", "a:b:c"), "a:b:c"},
		{[]string{"train", "--set", "train.learning_rates=[3]"}, "learning_rates"},
		{[]string{"experiment", "--arms", "baseline,gan"}, "em"},
		{[]string{"experiment", "--size", "quick", "--replace-captions", "2"}, "a share of captions is 2"},
		{[]string{"experiment", "--seeds", ""}, "--seeds"},
		{[]string{"eval"}, "--scores"},
		{[]string{"eval", "--scores", "x.csv"}, "--counts"},
		{[]string{"eval", "--scores", "x.csv", "--counts", "y.csv"}, "--captions-per-sample"},
		{[]string{"predict", "only-one"}, "predict"},
		{[]string{"bench"}, "step"},
		{[]string{"bench", "step", "--batch", "0"}, "--batch"},
		{[]string{"bench", "step", "--repeats", "9223372036854775807"}, "--repeats"},
		{[]string{"bench", "ops", "--warmup", "2147483647"}, "--warmup"},
		{[]string{"bench", "ops", "--frames", "-1"}, "--frames is -1"},
		{[]string{"bench", "step", "--frames", "26", "--no-mil"}, "--no-mil"},
		{[]string{"bench", "step", "--width", "NaN"}, "--width is NaN"},
		{[]string{"bench", "step", "--model", "vgg16", "--size", "100"}, "100×100 pixels"},
		{[]string{"bench", "step", "--device", "cuda", "--threads", "2"}, "--threads is for the CPU"},
		{[]string{"bench", "machine", "--sizes", "", "--mib", "0"}, "--sizes"},
		{[]string{"bench", "machine", "--sizes", "1024,0"}, "--sizes"},
		{[]string{"bench", "machine", "--batch", "2"}, "--batch"},
		{[]string{"bench", "machine", "--mib", "-1"}, "--mib is -1"},
		{[]string{"train", "--set", "net.dropout=NaN"}, "net.dropout: \"NaN\" is not a number"},
		{[]string{"train", "--set", "data.validation_share=NaN"}, "data.validation_share: \"NaN\" is not a number"},
		{[]string{"train", "--set", "data.vocabulary_size=-1"}, "vocabulary_size is -1"},
		{[]string{"eval", "x", "--classes", "-1"}, "--classes is -1"},
		{[]string{"noise", "--missing", "0.3"}, "--kind flips"},
		{[]string{"noise", "--kind", "flips", "--share", "0.3"}, "--kind uniform, uneven, content, similar, pair or shift"},
		{[]string{"noise", "--kind", "odd"}, "uniform"},
		{[]string{"noise", "--kind", "uneven", "--share", "0"}, "above 0 and at most 1"},
		{[]string{"train", "--set", "data.noise_kind=odd"}, "pair, shift, symmetric, asymmetric or instance"},
		{[]string{"train", "--set", "data.noise_kind=flips"}, "pair, shift, symmetric, asymmetric or instance"},
		{[]string{"experiment", "--set", "data.noise_kind=odd"}, "pair, shift, symmetric, asymmetric or instance"},
		{[]string{"scenes", "--kind", "odd", "--replace-captions", "0.4", "new"}, "uniform"},
		{[]string{"scenes", "--kind", "pair", "new"}, "--replace-captions"},
		{[]string{"scenes", "--replace-captions", "1.5", "new"}, "at most 1"},
		{[]string{"scenes", "--replace-captions", "0.3", "new"}, "multiples of 0.2"},
		{[]string{"scenes", "--replace-captions", "0.4", "--moving", "new"}, "exclude each other"},
		{[]string{"noise", "--kind", "flips"}, "--missing"},
		{[]string{"noise", "--kind", "flips", "--missing", "0.3", "--flip-rates", "q.csv"}, "replaces"},
		{[]string{"scenes", "--split", "../x", "new"}, "Split"},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) { wantUsage(t, call(t, test.args...), test.says) })
	}
}

func TestFailure_HasExitCode1AndNoUsage(t *testing.T) {
	for _, args := range [][]string{
		{"eval", filepath.Join(t.TempDir(), "nothing")},
		{"vocab", filepath.Join(t.TempDir(), "nothing.json")},
		{"train", "--device", "cpu", filepath.Join(t.TempDir(), "nothing.json"), "--images", t.TempDir()},
		{"train", "--device", "cuda"},
		{"bench", "step", "--device", "cuda"},
	} {
		c := call(t, args...)
		if c.code != exitFailure || strings.Contains(c.err, "--help") || strings.Count(c.err, "\n") != 1 {
			t.Errorf("%v: exit code %d, %q", args, c.code, c.err)
		}
	}
}

func TestVersion_SaysWhyThereIsNoSIMD(t *testing.T) {
	t.Setenv("NMN_SIMD", "avx3")
	wantParts(t, must(t, "version"), "SIMD none: ", `"avx3" is none of`)
}

func TestVersion_TellsGoAndSIMDAsJSON(t *testing.T) {
	v := readJSON(t, must(t, "version", "--json"))
	if v["go"] == "" || v["simd"] == "" || v["platform"] == "" {
		t.Errorf("version %v", v)
	}
	if text := must(t, "version"); !strings.HasPrefix(text, "nmn ") || strings.Count(text, "\n") != 1 {
		t.Errorf("version %q", text)
	}
}

func TestCompletion_KnowsValuesOfEnums(t *testing.T) {
	for _, test := range []struct {
		args []string
		want []string
	}{
		{[]string{"__complete", "train", "--arm", ""}, []string{"stage1", "baseline", "nmn-fi", "nmn-fd"}},
		{[]string{"__complete", "experiment", "--arms", "baseline,"}, []string{"baseline,nmn-fd"}},
		{[]string{"__complete", "train", "--device", ""}, []string{"auto", "cpu", "cuda"}},
	} {
		lines := strings.Split(must(t, test.args...), "\n")
		for _, want := range test.want {
			found := false
			for _, line := range lines {
				found = found || line == want
			}
			if !found {
				t.Errorf("%v: %q is not offered in %q", test.args, want, lines)
			}
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		wantParts(t, must(t, "completion", shell), "nmn")
	}
}

// settingsReference is the page docs/reference/settings.md.
func settingsReference() string {
	var b strings.Builder
	b.WriteString("# Settings\n\nRead this page to look up a setting. Every setting of a run has a key. Change one with `--set KEY=VALUE`, or in a YAML file " +
		"that `--config` reads. `nmn config` lists all keys with the values that hold, and `nmn config KEY` explains one. " +
		"Some have a flag. Defaults come from `nmn train scenes`; other presets have others.\n\nThis page is generated: " +
		"`go test ./cmd/nmn -run Reference -update`.\n")
	config := run.DefaultConfig()
	writeReference(&b, &config, func(key string) string { return flagOfSetting(key) })
	b.WriteString("\n# Settings of captioners\n\n`nmn caption train` takes these by `--set`. " +
		"Defaults come from the preset small.\n")
	captions, _ := session.FromPreset(session.Small)
	writeReference(&b, &captions, func(key string) string {
		for flag, of := range captionerKeys {
			if of[0] == key {
				return "--" + flag
			}
		}
		return ""
	})
	return b.String()
}

func writeReference(b *strings.Builder, config any, flag func(string) string) {
	section := "-"
	for _, d := range setting.Describe(config) {
		if slices.Contains(records, d.Key) {
			continue
		}
		if s, _, found := strings.Cut(d.Key, "."); !found {
			s = ""
			if section != s {
				section = s
				b.WriteString("\n| key | what | values | default |\n|:--|:--|:--|:--|\n")
			}
		} else if section != s {
			section = s
			fmt.Fprintf(b, "\n## %s\n\n| key | what | values | default |\n|:--|:--|:--|:--|\n", s)
		}
		value := fmt.Sprint(d.Value)
		if value == "[]" {
			value = ""
		}
		key := "`" + d.Key + "`"
		if f := flag(d.Key); f != "" {
			key += " (`" + f + "`)"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", key, strings.ReplaceAll(d.Plain(), "|", "\\|"),
			cmp.Or(d.Limits(), d.Type()), value)
	}
}

// A process that runs many command lines, as the tests do, keeps nothing of those that are over.
func TestExecute_LeavesNothingInMemory(t *testing.T) {
	held := func() uint64 {
		runtime.GC()
		runtime.GC() // what finalizers have let go
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	must(t, "train", "--help")
	before := held()
	const calls = 40
	for range calls {
		must(t, "train", "--help")
	}
	if after := held(); after > before+calls*50_000 {
		t.Errorf("%d calls keep %d kB of memory each", calls, (after-before)/calls/1000)
	}
}

// TestHelp_IsShort limits the help of every command: nmn COMMAND --help has at most 60 lines of 100 columns and three
// examples, and a line in a list of commands has at most ten words.
func TestHelp_IsShort(t *testing.T) {
	root := newRoot(&program{terminal: systemTerminal(nil)})
	root.InitDefaultCompletionCmd()
	var check func(c *cobra.Command)
	check = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			check(sub)
		}
		if strings.HasPrefix(c.CommandPath(), "nmn completion") { // cobra writes its help
			return
		}
		c.InitDefaultHelpFlag()
		var short strings.Builder
		describe(&short, c, 100, false, func(s string) string { return s })
		lines := strings.Split(strings.TrimRight(short.String(), "\n"), "\n")
		if len(lines) > 60 {
			t.Errorf("%s --help has %d lines, want at most 60", c.CommandPath(), len(lines))
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > 100 {
				t.Errorf("%s --help has a line of %d columns: %s", c.CommandPath(), n, line)
			}
		}
		examples := 0
		for line := range strings.Lines(c.Example) {
			if strings.HasPrefix(line, "  nmn ") {
				examples++
			}
		}
		if examples > 3 {
			t.Errorf("%s has %d examples, want at most 3", c.CommandPath(), examples)
		}
		if words := len(strings.Fields(c.Short)); words > 10 {
			t.Errorf("%s: %q has %d words, want at most 10", c.CommandPath(), c.Short, words)
		}
	}
	check(root)
}

// TestHelp_FullHasEverything compares nmn help COMMAND with nmn COMMAND --help.
func TestHelp_FullHasEverything(t *testing.T) {
	short, full := must(t, "extract", "--help"), must(t, "help", "extract")
	for _, rare := range []string{"--gelu", "--verbose", "If an extraction was interrupted"} {
		if strings.Contains(short, rare) || !strings.Contains(full, rare) {
			t.Errorf("%s is in the short help, or not in the full help:\n%s", rare, full)
		}
	}
	wantParts(t, short, "nmn help extract")
	if all := must(t, "help"); all != must(t, "--help") {
		t.Errorf("nmn help is not nmn --help:\n%s", all)
	}
	wantUsage(t, call(t, "help", "trian"), "trian")
	wantUsage(t, call(t, "help", "train", "well"), "has no command well")
	wantUsage(t, call(t, "help", "tarin"), "nmn has no command tarin; did you mean train?")
}
