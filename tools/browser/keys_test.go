package browser

import (
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// audited is a page with decisions.
type audited struct {
	page, file string
	accept     string // the file's name for verdict A
	reject     string
	columns    int // columns of the file; the decision is in this one
}

var audits = []audited{{"audit", "decisions.csv", "accept", "reject", 3},
	{"captions", "caption-decisions.csv", "drop", "keep", 1}}

const (
	focused = `document.activeElement.id || document.activeElement.className.split(" ")[0]`
	current = `+(document.querySelector("#cards .current")?.dataset.item ?? -1)`
	decided = `decisions.size`
)

// After a search the focus is on a card, so that A decides and types nothing.
func TestAudit_FocusLeavesTheSearch(t *testing.T) {
	of, all := start(t), pages(t)
	for _, a := range audits {
		t.Run(a.page, func(t *testing.T) {
			p := open(t, of, all[a.page], looks[0])
			p.press("/")
			want(p, "focus after /", focused, "search")
			word := value[string](p, `says(data.items.length - 1).split(" ").pop()`)
			p.press(word, kb.Enter)
			want(p, "focus on the current card after Enter", `document.activeElement.classList.contains("current")`, true)
			want(p, "found", `data.items.length > visible.length && visible.length > 0`, true)
			p.press("a")
			want(p, "decisions after A", decided, 1)
			want(p, "what A typed", `document.getElementById("search").value`, word)
			p.press("/")
			p.press("a", kb.Escape)
			want(p, "focus after Escape", `document.activeElement.id`, "")
			want(p, "search after Escape", `document.getElementById("search").value`, "")
			want(p, "decisions", decided, 1)
		})
	}
}

// The picture is enlarged by key and click. Keys still decide, and the focus stays inside and returns to the
// card.
func TestAudit_PicturesAreEnlarged(t *testing.T) {
	of, all := start(t), pages(t)
	for _, a := range audits {
		t.Run(a.page, func(t *testing.T) {
			p := open(t, of, all[a.page], looks[0])
			const isOpen = `document.getElementById("zoom").open`
			p.press(kb.ArrowRight, "z")
			want(p, "open after Z", isOpen, true)
			want(p, "wider than on the card", `document.getElementById("zoom-image").getBoundingClientRect().width >
				2 * document.querySelector("#cards img").getBoundingClientRect().height`, true)
			p.shoot(a.page + "-zoom")
			first := value[int](p, current)
			picture := value[string](p, `document.getElementById("zoom-image").src`)
			for range 4 {
				p.press(kb.Tab)
				want(p, "focus is inside or with the browser", `document.activeElement === document.body ||
					document.getElementById("zoom").contains(document.activeElement)`, true)
			}
			p.press(kb.ArrowRight)
			want(p, "an arrow moves on", fmt.Sprintf(`%s !== %d && (document.getElementById("zoom-image").src !== %q ||
				document.getElementById("zoom-name").textContent !== "")`, current, first, picture), true)
			p.press("a")
			want(p, "decisions in the enlarged picture", decided, 1)
			want(p, "open after A", isOpen, true)
			p.press(kb.Escape)
			want(p, "open after Escape", isOpen, false)
			want(p, "focus is back", `document.activeElement.classList.contains("current")`, true)
			p.do(chromedp.Click(`#cards li:nth-child(2) button.picture`))
			want(p, "open after a click", isOpen, true)
			p.press("z")
			want(p, "open after Z again", isOpen, false)
		})
	}
}

// A whole audit is decided and saved by keys alone, and nothing is lost when the page is opened again.
func TestAudit_DecidedByKeysAlone(t *testing.T) {
	of, all := start(t), pages(t)
	for _, a := range audits {
		t.Run(a.page, func(t *testing.T) {
			p := open(t, of, all[a.page], looks[0])
			n := value[int](p, `data.items.length`)
			want(p, "decided before", decided, 0)
			for i := range n {
				p.press(map[bool]string{true: "r", false: "a"}[i%3 == 2])
			}
			want(p, "decided", decided, n)
			want(p, "what is left", `document.getElementById("empty").hidden`, false)
			p.press("u")
			want(p, "decided after undo", decided, n-1)
			p.press("a")
			p.press("?")
			want(p, "help", `document.getElementById("help").open`, true)
			p.press(kb.Escape)
			rows := p.saved(a.file)
			if len(rows) != n+1 {
				t.Fatalf("%d rows are saved of %d decisions", len(rows)-1, n)
			}
			count := map[string]int{}
			for _, row := range rows[1:] {
				count[row[a.columns]]++
			}
			if count[a.accept] < n/2 || count[a.reject] == 0 || count[a.accept]+count[a.reject] != n {
				t.Errorf("decisions %v", count)
			}
			// Chromium may open the page in a new process, which receives the stored values from the old one
			// a moment later.
			again := []chromedp.Action[chromedp.Void]{chromedp.Navigate("file://" + all[a.page])}
			wantAfter(p, again, "decided when opened again", decided, n)
		})
	}
}

// saved is the file that S saves.
func (p *tab) saved(name string) [][]string {
	p.t.Helper()
	err := chromedp.Do(p, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: "allow",
			BrowserContextID: cdp.BrowserContextID(chromedp.FromContext(ctx).BrowserContextID), DownloadPath: p.downloads})
		return err
	}))
	if err != nil {
		p.t.Fatal(err)
	}
	p.press("s")
	path := filepath.Join(p.downloads, name)
	for p.Err() == nil {
		if b, err := os.ReadFile(path); err == nil && len(b) > 0 {
			rows, err := csv.NewReader(strings.NewReader(string(b))).ReadAll()
			if err != nil {
				p.t.Fatal(err)
			}
			return rows
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.t.Fatalf("%s is not saved", name)
	return nil
}
