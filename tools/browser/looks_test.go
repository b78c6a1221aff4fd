package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// violation is a rule of axe-core that a page breaks.
type violation struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML           string `json:"html"`
		FailureSummary string `json:"failureSummary"`
	} `json:"nodes"`
}

const runAxe = `axe.run(document, {runOnly: {type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]},
	resultTypes: ["violations"]}).then(r => r.violations)`

// All pages are accessible: no page breaks a rule of axe-core, in light, dark and on a telephone, with
// everything unfolded. On a telephone no page scrolls sideways. The text of charts is the page's own.
// -screenshots writes a picture of each page for review.
func TestPages_AreForEverybody(t *testing.T) {
	of, all, rules := start(t), pages(t), axe(t)
	for _, name := range names(all) {
		for _, l := range looks {
			t.Run(name+" "+l.name, func(t *testing.T) {
				p := open(t, of, all[name], l)
				p.shoot(name + "-" + l.name)
				value[bool](p, `document.querySelectorAll("details").forEach(d => d.open = true), true`)
				notWider(p)
				chartsOfThePage(p)
				if rules == "" {
					t.Skip("no axe-core (NMN_AXE names axe.min.js; .ci/install installs it)")
				}
				value[bool](p, rules+"; true")
				for _, v := range value[[]violation](p, runAxe) {
					for i, n := range v.Nodes {
						if i < 3 {
							t.Errorf("%s, %s (%d times): %.200s\n%s", v.ID, v.Help, len(v.Nodes), n.HTML, n.FailureSummary)
						}
					}
				}
			})
		}
	}
}

func notWider(p *tab) {
	p.t.Helper()
	if wide := value[float64](p, `document.documentElement.scrollWidth - innerWidth`); wide > 0 {
		p.t.Errorf("the page is %g pixels wider than the window: %s", wide, value[string](p, `[...document.querySelectorAll("body *")]
			.filter(e => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, pre")).slice(0, 5)
			.map(e => e.outerHTML.slice(0, 100)).join("\n")`))
	}
}

// chartsOfThePage checks that the text of charts has the page's font, is about as large as its other text, however wide the
// window, and lies within it.
func chartsOfThePage(p *tab) {
	p.t.Helper()
	for _, font := range value[[]string](p, `[...new Set([...document.querySelectorAll(".chart text")].map(e => {
		const s = getComputedStyle(e), body = getComputedStyle(document.body), scale = e.getScreenCTM().a;
		return s.fontFamily === body.fontFamily && parseFloat(s.fontSize) * scale >= .9 * parseFloat(body.fontSize) ? "" :
			s.fontFamily + " " + s.fontSize + " scaled by " + scale;
	}))].filter(s => s)`) {
		p.t.Errorf("text of a chart is %s", font)
	}
	if clipped := value[string](p, `[...document.querySelectorAll(".chart text")].filter(e => {
		const r = e.getBoundingClientRect();
		return r.left < 0 || r.right > innerWidth;
	}).map(e => e.textContent).slice(0, 3).join(", ")`); clipped != "" {
		p.t.Errorf("text of a chart is cut off: %s", clipped)
	}
}

// shoot writes a picture of the whole page, if -screenshots is set.
func (p *tab) shoot(name string) {
	p.t.Helper()
	if *screenshots == "" {
		return
	}
	b, err := chromedp.Run(p, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.MkdirAll(*screenshots, 0o777)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(*screenshots, name+".png"), b, 0o666)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}
