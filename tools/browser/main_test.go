package browser

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var screenshots = flag.String("screenshots", "", "folder to write a picture of each page to, in light, dark and narrow")

// root is the folder of the module of nmn.
const root = "../.."

// chromium is the browser's path. The test is skipped without one.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("NMN_CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if name != "" {
			if path, err := exec.LookPath(name); err == nil {
				return path
			}
		}
	}
	t.Skip("no Chromium (NMN_CHROMIUM names one)")
	return ""
}

// axe is the source of axe-core, or empty if there is none.
func axe(t *testing.T) string {
	t.Helper()
	path := cmp.Or(os.Getenv("NMN_AXE"), filepath.Join(root, "build", "axe", "node_modules", "axe-core", "axe.min.js"))
	source, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(source)
}

// look is how a page is looked at.
type look struct {
	name          string
	width, height int64
	dark          bool
}

var looks = []look{{"light", 1280, 900, false}, {"dark", 1280, 900, true}, {"narrow", 390, 844, false}}

// tab is a page in the browser, with the forbidden things that it has done.
type tab struct {
	context.Context
	t         *testing.T
	downloads string

	mutex  sync.Mutex
	faults []string
}

// end is when a test stops waiting: shortly before its deadline, so that it can still report what it waits
// for.
func end(t *testing.T) time.Time {
	if deadline, ok := t.Deadline(); ok {
		return deadline.Add(-10 * time.Second)
	}
	return time.Now().Add(time.Hour)
}

// start starts the browser, which ends with the test.
func start(t *testing.T) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox,
		chromedp.Flag("force-color-profile", "srgb"), chromedp.Flag("disable-component-update", true),
		chromedp.WSURLReadTimeout(time.Until(end(t))))
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("the browser does not start: %v", err)
	}
	return ctx
}

// open opens a page in its own tab. When the test ends it fails for requests that leave the page and for
// errors of its scripts.
func open(t *testing.T, of context.Context, page string, l look) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(of)
	ctx, timeout := context.WithDeadline(ctx, end(t))
	p := &tab{Context: ctx, t: t, downloads: t.TempDir()}
	t.Cleanup(func() {
		timeout()
		cancel()
		p.mutex.Lock()
		defer p.mutex.Unlock()
		for _, f := range p.faults {
			t.Errorf("%s: %s", filepath.Base(page), f)
		}
	})
	if err := chromedp.Do(ctx); err != nil { // which opens the tab
		t.Fatal(err)
	}
	if err := chromedp.Listen(ctx, p.watch); err != nil {
		t.Fatal(err)
	}
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	p.do(call(network.Enable, network.EnableParams{}), call(log.Enable, cdp.Empty{}),
		call(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: l.width, Height: l.height,
			DeviceScaleFactor: 1, Mobile: l.width < 600}),
		call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}}),
		chromedp.Navigate("file://"+page))
	return p
}

// call is a command of the protocol as a step.
func call[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

func (p *tab) watch(event any) {
	fault := ""
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(e.Request.URL, "file:") && !strings.HasPrefix(e.Request.URL, "data:") &&
			!strings.HasPrefix(e.Request.URL, "blob:") {
			fault = "a request leaves the page: " + e.Request.URL
		}
	case *runtime.EventExceptionThrown:
		fault = "exception: " + e.ExceptionDetails.Text
	case *runtime.EventConsoleAPICalled:
		fault = fmt.Sprintf("the console shows %s", e.Type)
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" || e.Entry.Level == "warning" {
			fault = "the browser's log: " + e.Entry.Text
		}
	}
	if fault != "" {
		p.mutex.Lock()
		p.faults = append(p.faults, fault)
		p.mutex.Unlock()
	}
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p, steps...); err != nil {
		p.t.Fatal(err)
	}
}

// value returns the value of an expression in the page. A promise is awaited.
func value[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

// press types keys into the element with the focus. A key whose event a page handles itself types nothing.
func (p *tab) press(keys ...string) {
	p.t.Helper()
	for _, r := range strings.Join(keys, "") {
		events := kb.Encode(r)
		down, up := *events[0], *events[len(events)-1]
		if len(events) == 3 {
			down.Text = events[1].Text
		}
		down.Type = "keyDown"
		p.do(call(input.DispatchKeyEvent, down), call(input.DispatchKeyEvent, up))
	}
}

// want waits until an expression in the page gives a value, because events caused by a key may come a moment
// later.
func want[T comparable](p *tab, what, expression string, is T) {
	p.t.Helper()
	wantAfter(p, nil, what, expression, is)
}

// wantAfter waits like want, and takes the steps before each look.
func wantAfter[T comparable](p *tab, steps []chromedp.Action[chromedp.Void], what, expression string, is T) {
	p.t.Helper()
	var got any = "unknown"
	for {
		err := chromedp.Do(p, steps...)
		if err == nil {
			var v T
			if v, err = chromedp.Run(p, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise)); v == is && err == nil {
				return
			} else if err == nil {
				got = v
			}
		}
		if err != nil {
			p.t.Fatalf("%s: %v, want %v: %v", what, got, is, err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// built is the folder of the program; empty for none.
var built string

// nmn is the program, built once for all tests.
var nmn = sync.OnceValues(func() (path string, err error) {
	if built, err = os.MkdirTemp("", "nmn-browser"); err != nil {
		return "", err
	}
	path = filepath.Join(built, "nmn")
	build := exec.Command("go", "build", "-o", path, "./cmd/nmn")
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	for _, folder := range []string{made, built} {
		if folder != "" {
			_ = os.RemoveAll(folder)
		}
	}
	os.Exit(code)
}
