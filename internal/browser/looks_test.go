package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// Nobody is kept out: no page breaks a rule of axe-core, in light, dark and on a telephone, with everything unfolded; and
// on a telephone no page scrolls sideways.
func TestPages_BreakNoRuleOfAccessibility(t *testing.T) {
	of, rules, all := start(t), axe(t), pages(t)
	for _, name := range names(all) {
		for _, l := range looks {
			t.Run(name+" "+l.name, func(t *testing.T) {
				p := open(t, of, all[name], l)
				value[bool](p, `document.querySelectorAll("details").forEach(d => d.open = true), true`)
				value[bool](p, rules+"; true")
				for _, v := range value[[]violation](p, runAxe) {
					for i, n := range v.Nodes {
						if i < 3 {
							t.Errorf("%s, %s (%d times): %.200s\n%s", v.ID, v.Help, len(v.Nodes), n.HTML, n.FailureSummary)
						}
					}
				}
				notWider(p)
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

// The text of charts is the page's own, about as large as its other text, however wide the window.
func TestPages_TextOfChartsIsThatOfThePage(t *testing.T) {
	of, all := start(t), pages(t)
	for _, name := range names(all) {
		for _, l := range looks {
			if !strings.HasPrefix(name, "run") && !strings.HasPrefix(name, "rates") && !strings.HasPrefix(name, "experiment") {
				continue
			}
			p := open(t, of, all[name], l)
			for _, font := range value[[]string](p, `[...new Set([...document.querySelectorAll(".chart text")].map(e => {
				const s = getComputedStyle(e), body = getComputedStyle(document.body);
				const height = e.getScreenCTM().a;
				return s.fontFamily === body.fontFamily && parseFloat(s.fontSize) * height >= .9 * parseFloat(body.fontSize) ? "" :
					s.fontFamily + " " + s.fontSize + " scaled by " + height;
			}))].filter(s => s)`) {
				t.Errorf("%s, %s: text of a chart is %s", name, l.name, font)
			}
			if clipped := value[string](p, `[...document.querySelectorAll(".chart text")].filter(e => {
				const r = e.getBoundingClientRect();
				return r.left < 0 || r.right > innerWidth;
			}).map(e => e.textContent).slice(0, 3).join(", ")`); clipped != "" {
				t.Errorf("%s, %s: text of a chart is cut off: %s", name, l.name, clipped)
			}
		}
	}
}

// Pictures for the eyes of people are written where -screenshots says.
func TestPages_Screenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("-screenshots names no folder")
	}
	if err := os.MkdirAll(*screenshots, 0o777); err != nil {
		t.Fatal(err)
	}
	of, all := start(t), pages(t)
	for _, name := range names(all) {
		for _, l := range looks {
			p := open(t, of, all[name], l)
			p.shoot(fmt.Sprintf("%s-%s", name, l.name))
		}
	}
}

// shoot writes a picture of the whole page.
func (p *tab) shoot(name string) {
	p.t.Helper()
	if *screenshots == "" {
		return
	}
	b, err := chromedp.Run(p, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(filepath.Join(*screenshots, name+".png"), b, 0o666)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}
