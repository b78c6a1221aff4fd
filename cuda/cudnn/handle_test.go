//go:build cuda

package cudnn

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"nmn/cuda"
	"nmn/cuda/internal/fakecudnn"
	"nmn/cuda/internal/fakedriver"
)

// The libraries of these tests. path is empty if they cannot be built, or if a real card is to be tested: one
// process opens one driver.
var (
	fakePath string
	fake     *fakecudnn.Library
	driver   *fakedriver.Driver
)

// onCard reports whether NMN_REQUIRE asks for tests on a real card.
func onCard() bool { return slices.Contains(strings.Split(os.Getenv("NMN_REQUIRE"), ","), "cuda") }

func TestMain(m *testing.M) {
	if onCard() {
		os.Exit(m.Run())
	}
	folder, err := os.MkdirTemp("", "fakecudnn")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := buildFakes(folder); errors.Is(err, exec.ErrNotFound) || errors.Is(err, fakecudnn.ErrHeader) {
		fmt.Println("tests of the library's calls are left out:", err)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

func buildFakes(folder string) error {
	path, err := fakedriver.Build(folder)
	if err != nil {
		return err
	}
	os.Setenv(cuda.DriverVariable, path)
	if driver, err = fakedriver.Load(path); err != nil {
		return err
	}
	if path, err = fakecudnn.Build(folder); err != nil {
		return err
	}
	fakePath = path
	fake, err = fakecudnn.Load(path)
	return err
}

// useFake replaces the real library by the fake one until the test ends.
func useFake(t *testing.T) {
	t.Helper()
	if fakePath == "" {
		t.Skip("needs the fake libraries: no C compiler, or NMN_REQUIRE asks for a card")
	}
	if err := openAt(fakePath); err != nil {
		t.Fatal(err)
	}
	library = func() error { return nil }
	t.Cleanup(func() { library = sync.OnceValue(openLibrary) })
	fake.Reset()
	driver.Reset(fakedriver.H200)
}

// handle opens a handle on the fake device and closes both when the test ends.
func handle(t *testing.T, o Options) (*Handle, *cuda.Device) {
	t.Helper()
	d, err := cuda.Open(0, cuda.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o.WarmUp = -1 // a warm-up would run more than the test counts
	h, err := Open(d.Compute(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(h.Close(), d.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
		if live := fake.Live(); live != 0 {
			t.Errorf("%d handles and descriptors were not destroyed", live)
		}
		if live := driver.Live(); live != "" {
			t.Errorf("not freed: %s", live)
		}
	})
	return h, d
}

var (
	bf16 = Conv{N: 1, H: 8, W: 8, C: 8, K: 8, R: 3, S: 3, Pad: 1, Precision: BFloat16}
	fp32 = Conv{N: 1, H: 8, W: 8, C: 8, K: 8, R: 3, S: 3, Pad: 1}
)

func TestRun_ChoosesOnceAndRunsWithoutAllocating(t *testing.T) {
	useFake(t)
	h, _ := handle(t, Options{})
	if err := h.Run(ForwardBiasReLU, bf16, Operands{}); err != nil {
		t.Fatal(err)
	}
	// Warm-up and three measured runs of the one engine that is fit, then the run itself.
	if n := strings.Count(fake.Log(), "graph 7"); n != 5 || strings.Contains(fake.Log(), "graph 8") ||
		strings.Contains(fake.Log(), "graph 9") {
		t.Errorf("ran\n%swant five runs of engine 7 alone", fake.Log())
	}
	if !strings.Contains(fake.Log(), "tensors 4 ") {
		t.Errorf("ran\n%swant four tensors, with the bias", fake.Log())
	}
	calls := fake.Calls()
	if err := h.Run(ForwardBiasReLU, bf16, Operands{}); err != nil {
		t.Fatal(err)
	}
	if n := fake.Calls() - calls; n > 6 {
		t.Errorf("the second run made %d calls, want one execution's", n)
	}
	if n := testing.AllocsPerRun(20, func() {
		if h.Run(ForwardBiasReLU, bf16, Operands{}) != nil {
			t.Fatal("run failed")
		}
	}); n != 0 {
		t.Errorf("%v allocations a run, want 0", n)
	}
}

func TestRun_Float32TakesTheFasterOfBothInterfaces(t *testing.T) {
	for name, c := range map[string]struct {
		pass  Pass
		times []float32 // three of the graph's engine, three of the algorithm
		want  string
	}{
		"graph":           {Forward, []float32{3, 1, 3, 2, 2, 2}, "graph 7"},
		"algorithm":       {Forward, []float32{3, 2, 3, 2, 1, 2}, "forward 1 2000"},
		"fused":           {ForwardBiasReLU, []float32{3, 2, 3, 2, 1, 2}, "fused forward 1 2000"},
		"bias":            {ForwardBias, []float32{3, 2, 3, 2, 1, 2}, "fused forward 1 2000"},
		"data gradient":   {DataGradient, []float32{3, 2, 3, 2, 1, 2}, "data 1 2000"},
		"filter gradient": {FilterGradient, []float32{3, 2, 3, 2, 1, 2}, "filter 1 2000"},
	} {
		t.Run(name, func(t *testing.T) {
			useFake(t)
			h, _ := handle(t, Options{})
			driver.Times(c.times...)
			if err := h.Run(c.pass, fp32, Operands{}); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(fake.Log()), "\n")
			if last := lines[len(lines)-1]; !strings.HasPrefix(last, c.want) {
				t.Errorf("the run was %q, want %q", last, c.want)
			}
			if !strings.Contains(fake.Log(), "math 3 ") {
				t.Error("the algorithms may use TF32, want FMA only")
			}
		})
	}
}

func TestRun_KeepsChoicesInAFile(t *testing.T) {
	useFake(t)
	folder := t.TempDir()
	h, d := handle(t, Options{CacheFolder: folder})
	driver.Times(0.25, 0.5, 0.5)
	if err := h.Run(DataGradient, bf16, Operands{}); err != nil {
		t.Fatal(err)
	}
	kept, text, err := keptPlans(folder).read(plansKey(DataGradient, bf16))
	want := Choice{Engine: Engine{Index: 7, Knobs: []Knob{{2, 5}}}, Workspace: 1000, Microseconds: 250}
	if err != nil || kept == nil || fmt.Sprint(kept.Choice) != fmt.Sprint(want) || string(text) != "7" {
		t.Fatalf("kept %+v with %q, %v, want %+v", kept, text, err, want)
	}
	again, err := Open(d.Compute(), Options{CacheFolder: folder})
	if err != nil {
		t.Fatal(err)
	}
	before := strings.Count(fake.Log(), "graph 7")
	if err := again.Run(DataGradient, bf16, Operands{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(fake.Log(), "graph 7") - before; n != 1 {
		t.Errorf("%d runs with the kept plan, want 1: nothing to measure", n)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// keptPlans are the stored plans of the fake device.
func keptPlans(folder string) *plans {
	return openPlans(folder, 91300, "Fake 0 sm_90 132 multiprocessors")
}

func TestRun_RebuildsWhatIsCorruptAndSaysSo(t *testing.T) {
	key := plansKey(DataGradient, bf16)
	for name, write := range map[string]func(p *plans) error{
		"cut short": func(p *plans) error {
			return errors.Join(os.MkdirAll(p.folder, 0o777), os.WriteFile(p.file(key), []byte(`{"format":2,"cudnn":91300,"dev`),
				0o666))
		},
		"unknown engine": func(p *plans) error { return p.write(key, Choice{Engine: Engine{Index: 5000}}, nil) },
		"unfit text":     func(p *plans) error { return p.write(key, Choice{Engine: Engine{Index: 5000}}, []byte("9")) },
	} {
		t.Run(name, func(t *testing.T) {
			useFake(t)
			folder := t.TempDir()
			if err := write(keptPlans(folder)); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			h, _ := handle(t, Options{CacheFolder: folder, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err := h.Run(DataGradient, bf16, Operands{}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(log.String(), "choosing again") || !strings.Contains(log.String(), "level=WARN") {
				t.Errorf("the log does not report it: %s", log.String())
			}
			kept, _, err := keptPlans(folder).read(key)
			if err != nil || kept.Index != 7 {
				t.Errorf("the file was not replaced: %+v, %v", kept, err)
			}
		})
	}
}

// A text that this cuDNN does not take costs building the engine, not choosing it.
func TestRun_BuildsTheKeptEngineWhereItsTextIsNotTaken(t *testing.T) {
	useFake(t)
	folder := t.TempDir()
	if err := keptPlans(folder).write(plansKey(Forward, bf16), Choice{Engine: Engine{Index: 21}},
		[]byte("9")); err != nil {
		t.Fatal(err)
	}
	h, _ := handle(t, Options{CacheFolder: folder})
	if err := h.Run(Forward, bf16, Operands{}); err != nil {
		t.Fatal(err)
	}
	if log := fake.Log(); strings.Count(log, "graph") != 1 || !strings.Contains(log, "graph 21") ||
		strings.Count(log, "compile") != 1 {
		t.Errorf("ran\n%swant engine 21 built and run once", log)
	}
}

// Three of the plans to compile are compiled, each once, whether or not they are begun ahead. Stored plans
// are not compiled again.
func TestRun_CompilesFewPlansOnce(t *testing.T) {
	for _, ahead := range []bool{false, true} {
		compilesFewPlansOnce(t, ahead)
	}
}

func compilesFewPlansOnce(t *testing.T, ahead bool) {
	t.Run(fmt.Sprint("ahead ", ahead), func(t *testing.T) {
		useFake(t)
		fake.Compiled(12)
		folder := t.TempDir()
		h, d := handle(t, Options{CacheFolder: folder, Threads: 4})
		if ahead {
			h.Ahead([]Shape{{Forward, bf16}, {DataGradient, bf16}})
		}
		driver.Times(3, 3, 3, 2, 2, 2, 1, 1, 1, 2, 2, 2)
		if err := h.Run(Forward, bf16, Operands{}); err != nil {
			t.Fatal(err)
		}
		h.forge.group.Wait()
		want := 3
		if ahead {
			want = 6
		}
		if n := strings.Count(fake.Log(), "compile"); n != want {
			t.Errorf("ahead %v: %d plans were compiled, want %d:\n%s", ahead, n, want, fake.Log())
		}
		kept, text, err := keptPlans(folder).read(plansKey(Forward, bf16))
		if err != nil || kept == nil || kept.Index != 21 || string(text) != "21" {
			t.Fatalf("ahead %v: kept %+v with %q, %v, want engine 21, the fastest", ahead, kept, text, err)
		}
		again, err := Open(d.Compute(), Options{CacheFolder: folder})
		if err != nil {
			t.Fatal(err)
		}
		again.Ahead([]Shape{{Forward, bf16}})
		if err := errors.Join(again.Run(Forward, bf16, Operands{}), again.Close()); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(fake.Log(), "compile"); n != want {
			t.Errorf("ahead %v: %d plans were compiled by the second program", ahead, n-want)
		}
	})
}

// Engines that cuDNN hides from a described device are built by handles, also on several threads.
func TestRun_BuildsByHandleWhatTheDescriptionHides(t *testing.T) {
	for _, hides := range []bool{false, true} {
		t.Run(fmt.Sprint(hides), func(t *testing.T) { buildsByHandle(t, hides) })
	}
}

func buildsByHandle(t *testing.T, hides bool) {
	useFake(t)
	described := "1"
	if fake.Compiled(12); hides {
		fake.CompiledByHandle(12)
		described = "0"
	}
	var log bytes.Buffer
	h, _ := handle(t, Options{Threads: 4, Logger: slog.New(slog.NewTextHandler(&log,
		&slog.HandlerOptions{Level: slog.LevelDebug}))})
	h.Ahead([]Shape{{Forward, bf16}, {DataGradient, bf16}})
	driver.Times(3, 3, 3, 2, 2, 2, 1, 1, 1, 2, 2, 2)
	if err := errors.Join(h.Run(Forward, bf16, Operands{}), h.Run(DataGradient, bf16, Operands{})); err != nil {
		t.Fatal(err)
	}
	if chosen, _ := h.Chosen(Forward, bf16); chosen.Index != 21 {
		t.Errorf("chose %v, want engine 21, the fastest", chosen)
	}
	built := regexp.MustCompile(`compile \d+ (\d)`).FindAllStringSubmatch(fake.Log(), -1)
	if len(built) != 6 {
		t.Errorf("%d plans were compiled, want 6:\n%s", len(built), fake.Log())
	}
	for _, m := range built {
		if m[1] != described {
			t.Errorf("%q, want %s for all:\n%s", m[0], described, fake.Log())
		}
	}
	if want := fmt.Sprintf("by_handle=%v", hides); !strings.Contains(log.String(), want) {
		t.Errorf("the log lacks %s:\n%s", want, log.String())
	}
}

// Candidates after the number of timed plans are not compiled.
func TestRun_CompilesNothingThatIsNotTimed(t *testing.T) {
	useFake(t)
	fake.Compiled(5)
	h, _ := handle(t, Options{Measured: 1})
	if err := h.Run(Forward, bf16, Operands{}); err != nil {
		t.Fatal(err)
	}
	if log := fake.Log(); strings.Contains(log, "compile") || strings.Count(log, "graph 7") != 5 {
		t.Errorf("ran\n%swant engine 7 alone", log)
	}
}

// Another batch takes the engine of the nearest, and measures that alone.
func TestRun_TakesTheEngineOfTheNearestBatch(t *testing.T) {
	for _, ahead := range []bool{false, true} {
		takesTheEngineOfTheNearestBatch(t, ahead)
	}
}

func takesTheEngineOfTheNearestBatch(t *testing.T, ahead bool) {
	t.Run(fmt.Sprint("ahead ", ahead), func(t *testing.T) {
		useFake(t)
		fake.Compiled(3)
		folder := t.TempDir()
		if err := keptPlans(folder).write(plansKey(Forward, bf16), Choice{Engine: Engine{Index: 22}},
			[]byte("22")); err != nil {
			t.Fatal(err)
		}
		h, _ := handle(t, Options{CacheFolder: folder})
		near, far := bf16, bf16
		near.N, far.N = 2, 3
		if ahead {
			h.Ahead([]Shape{{Forward, near}})
		}
		driver.Times(1)
		if err := h.Run(Forward, near, Operands{}); err != nil {
			t.Fatal(err)
		}
		log := fake.Log()
		if n := strings.Count(log, "compile 22"); n != 1 || strings.Count(log, "compile") != 1 ||
			strings.Count(log, "graph 22") != 5 {
			t.Errorf("ahead %v: ran\n%swant engine 22 compiled once, measured and run", ahead, log)
		}
		kept, _, err := keptPlans(folder).read(plansKey(Forward, near))
		if err != nil || kept == nil || kept.From != 1 || kept.Microseconds != 1000 {
			t.Errorf("ahead %v: kept %+v, %v, want one from a batch of 1", ahead, kept, err)
		}
		// A batch of 3 is too far from batch 1, and the plan of batch 2 came from there.
		if err := h.Run(Forward, far, Operands{}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(fake.Log(), "compile"); n != 4 {
			t.Errorf("ahead %v: %d plans were compiled, want one and then three", ahead, n)
		}
	})
}

// A kernel of the caller is measured after cuDNN's plans and kept under its name. A later run takes it again, if it
// is still there. It is no choice for other batches.
func TestRun_MeasuresAKernelOfTheCaller(t *testing.T) {
	useFake(t)
	runs, far := 0, bf16
	far.N = 2
	kernel := Kernel{Name: "mine", Workspace: 100, Run: func(_ Operands, scratch cuda.Address) error {
		if runs++; scratch == 0 {
			return errors.New("no scratch memory")
		}
		return nil
	}}
	chosen := func(c Conv, o Options, k Kernel, times ...float32) (choice Choice) {
		t.Run("run", func(t *testing.T) { // closes the handle
			h, _ := handle(t, o)
			runs = 0
			h.Include(FilterGradient, c, k)
			driver.Times(times...)
			if err := h.Run(FilterGradient, c, Operands{}); err != nil {
				t.Fatal(err)
			}
			choice, _ = h.Chosen(FilterGradient, c)
		})
		return choice
	}
	const measured = 5 // a warm-up, three timed runs and the run itself
	slow := []float32{2, 2, 2, 3, 3, 3}
	if c := chosen(bf16, Options{}, kernel, slow...); c.Kernel != "" || c.Index != 7 || runs != measured-1 {
		t.Errorf("%v was chosen after %d runs of the slower kernel", c, runs)
	}
	fast, kept := []float32{2, 2, 2, 1, 1, 1}, Options{CacheFolder: t.TempDir()}
	if c := chosen(bf16, kept, kernel, fast...); c.String() != "mine" || c.Microseconds != 1000 || runs != measured {
		t.Errorf("%v was chosen after %d runs of the faster kernel", c, runs)
	}
	if c := chosen(bf16, kept, kernel); c.String() != "mine" || c.Microseconds != 1000 || runs != 1 {
		t.Errorf("%v was taken from the file after %d runs", c, runs)
	}
	if c := chosen(far, kept, kernel, slow...); c.Index != 7 || c.From != 0 || runs != measured-1 {
		t.Errorf("%+v was chosen for another batch after %d runs", c, runs)
	}
	other, fresh := kernel, Options{CacheFolder: t.TempDir()}
	other.Name = "another"
	chosen(bf16, fresh, kernel, fast...)
	if c := chosen(bf16, fresh, other, slow...); c.Index != 7 || runs != measured-1 {
		t.Errorf("%v was chosen after %d runs of a kernel that is not the kept one", c, runs)
	}
	fake.NoEngines(true)
	defer fake.NoEngines(false)
	if c := chosen(bf16, Options{}, kernel, 1, 1, 1); c.String() != "mine" {
		t.Errorf("%v was chosen without a plan of cuDNN", c)
	}
	h, _ := handle(t, Options{MaxWorkspace: 99})
	h.Include(FilterGradient, bf16, kernel)
	if err := h.Run(FilterGradient, bf16, Operands{}); !errors.Is(err, ErrUnsupported) {
		t.Errorf("a kernel ran without room for its scratch memory: %v", err)
	}
}

// If cuDNN has no texts of plans, the handle builds them itself, and stores their engines.
func TestRun_WithoutTexts(t *testing.T) {
	useFake(t)
	fake.NoTexts()
	fake.Compiled(9)
	folder := t.TempDir()
	h, _ := handle(t, Options{CacheFolder: folder})
	if err := h.Run(Forward, bf16, Operands{}); err != nil {
		t.Fatal(err)
	}
	kept, text, err := keptPlans(folder).read(plansKey(Forward, bf16))
	if err != nil || kept == nil || kept.Index != 7 || text != nil {
		t.Errorf("kept %+v with %q, %v", kept, text, err)
	}
}

// Closing waits for plans being built, and builds no more.
func TestClose_EndsWhatIsBuiltAhead(t *testing.T) {
	useFake(t)
	fake.Compiled(20)
	h, _ := handle(t, Options{Threads: 2})
	var shapes []Shape
	for n := 1; n < 60; n++ {
		c := bf16
		c.N = n
		shapes = append(shapes, Shape{Forward, c})
	}
	h.Ahead(shapes)
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	before := fake.Calls()
	if fake.Live() != 0 || fake.Calls() != before {
		t.Errorf("%d descriptors live, %d calls since", fake.Live(), fake.Calls()-before)
	}
}

// A card whose clocks are low is given work before the first plan is timed, and not before others.
func TestRun_WarmsUpOnce(t *testing.T) {
	useFake(t)
	d, err := cuda.Open(0, cuda.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := Open(d.Compute(), Options{WarmUp: 1})
	if err != nil {
		t.Fatal(err)
	}
	first := errors.Join(h.Run(Forward, bf16, Operands{}))
	n := strings.Count(fake.Log(), "graph")
	second := h.Run(DataGradient, bf16, Operands{})
	if err := errors.Join(first, second, h.Close(), d.Close()); err != nil {
		t.Fatal(err)
	}
	if n != 13 || strings.Count(fake.Log(), "graph") != n+5 {
		t.Errorf("%d runs of the first, then %d, want 13 and 5", n, strings.Count(fake.Log(), "graph")-n)
	}
}

func TestRun_GoesOnWhereChoicesCannotBeKeptAndSaysSoOnce(t *testing.T) {
	useFake(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	h, _ := handle(t, Options{CacheFolder: filepath.Join(file, "nmn"), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	log.Reset() // the file of plans could not be read there either, which was logged
	for _, pass := range []Pass{Forward, DataGradient, FilterGradient} {
		for range 2 {
			if err := h.Run(pass, bf16, Operands{}); err != nil {
				t.Fatalf("%v: %v", pass, err)
			}
		}
	}
	if text := log.String(); strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, "this run alone") ||
		!strings.Contains(text, file) {
		t.Errorf("the log does not report it once: %s", text)
	}
}

func TestRun_WithinACaptureNeedsAChosenPlan(t *testing.T) {
	useFake(t)
	h, d := handle(t, Options{})
	run := func() error { return h.Run(Forward, bf16, Operands{}) }
	if _, err := d.Compute().Capture("step", run); err == nil || !strings.Contains(err.Error(),
		"run the step once before") {
		t.Errorf("error %v, want one with a cure", err)
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	g, err := d.Compute().Capture("step", run)
	if err != nil {
		t.Fatal(err)
	}
	if want := "cudnn forward of 1×8×8×8 by 8×3×3 pad 1 bf16"; len(g.Launches()) != 1 || g.Launches()[0] != want {
		t.Errorf("the graph holds %q, want %q", g.Launches(), want)
	}
}

func TestRun_NoEngineIsUnsupported(t *testing.T) {
	useFake(t)
	h, _ := handle(t, Options{})
	fake.NoEngines(true)
	for range 2 {
		if err := h.Run(Forward, bf16, Operands{}); !errors.Is(err, ErrUnsupported) {
			t.Errorf("error %v, want ErrUnsupported", err)
		}
	}
	calls := fake.Calls()
	if _ = h.Run(Forward, bf16, Operands{}); fake.Calls() != calls {
		t.Error("cuDNN was asked again for what it has no plan for")
	}
	tight, err := Open(h.stream, Options{MaxWorkspace: 10})
	if err != nil {
		t.Fatal(err)
	}
	fake.NoEngines(false)
	if err := tight.Run(Forward, bf16, Operands{}); !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(),
		"10 bytes") {
		t.Errorf("error %v, want ErrUnsupported and the limit", err)
	}
	if err := tight.Close(); err != nil {
		t.Error(err)
	}
}

// Whichever call of the library fails, an error reports it, nothing panics, and everything is destroyed.
func TestEveryCall_MayFail(t *testing.T) {
	useFake(t)
	hidden := 0   // engines that need a handle for each thread
	threads := -1 // the handle builds plans itself: with threads, most failures leave the work to the handle
	attempt := func(at, status int) error {
		fake.Reset()
		driver.Reset(fakedriver.H200)
		fake.CompiledByHandle(hidden)
		fake.Fail(at, status)
		d, err := cuda.Open(0, cuda.Options{})
		if err != nil {
			return err
		}
		h, err := Open(d.Compute(), Options{WarmUp: -1, Threads: threads})
		if err == nil {
			err = errors.Join(h.Run(ForwardBiasReLU, bf16, Operands{}), h.Run(FilterGradient, fp32, Operands{}), h.Close())
		}
		return errors.Join(err, d.Close())
	}
	if err := attempt(0, 0); err != nil {
		t.Fatal(err)
	}
	calls, silent := fake.Calls(), 0
	for _, status := range []int{2000, 3000, deviceFull, 5000} {
		for n := 1; n <= calls; n++ {
			err := attempt(n, status)
			if of := (*Error)(nil); errors.As(err, &of) && status == deviceFull && !errors.Is(err, cuda.ErrOutOfMemory) {
				t.Errorf("call %d finds the card full, and the error does not report it: %v", n, err)
			}
			if err == nil {
				silent++
			}
			// Package dnn itself loses a filter whose sizes are refused.
			if live := fake.Live(); live != 0 && !strings.Contains(fake.Log(), "cudnnSetFilter4dDescriptor -1") {
				t.Errorf("call %d fails with %d: %d handles and descriptors not destroyed; error %v", n, status, live, err)
			}
			if live := driver.Live(); live != "" {
				t.Errorf("call %d fails with %d: not freed: %s; error %v", n, status, live, err)
			}
		}
	}
	// If one of two interfaces fails in float32, the other one serves.
	t.Logf("each of %d calls failed in turn, in three ways; after %d of them another plan served", calls, silent)
	if silent > calls*3*2/3 {
		t.Errorf("%d of %d failures went without an error", silent, calls*3)
	}
	threads = 1
	for _, hidden = range []int{0, 1} {
		if err := attempt(0, 0); err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= fake.Calls(); n++ {
			err := attempt(n, 5000)
			if live := fake.Live(); live != 0 && !strings.Contains(fake.Log(), "cudnnSetFilter4dDescriptor -1") {
				t.Errorf("with a thread and %d hidden engines, call %d fails: %d handles and descriptors not destroyed; error %v",
					hidden, n, live, err)
			}
		}
	}
}
