package report

import (
	"fmt"
	"hash/fnv"
	"html/template"
	"io"
	"strings"
	"unicode/utf8"

	"nmn/eval"
	"nmn/internal/visible"
	"nmn/labels/misplaced"
)

// captionPageTemplate is the page of labels with other texts.
var captionPageTemplate = template.Must(template.Must(auditPageTemplate.Clone()).Parse(htmlFile("captionaudit.html")))

// CaptionPage is one self-contained HTML file to look at captions that probably belong to other pictures,
// decide on each of them, and save the decisions in the form that misplaced.ReadDecisions reads. The script of
// the page reads its fields.
type CaptionPage struct {
	Name     string              `json:"name"`
	Key      string              `json:"key"` // for the decisions that the browser keeps; other suspects have another key
	Captions int                 `json:"captions"`
	AllBags  int                 `json:"all_samples"`
	Foreign  eval.Number         `json:"foreign"`
	Interval *misplaced.Interval `json:"interval"`
	Refused  string              `json:"refused"`
	Total    int                 `json:"total"` // number of suspects; Items holds the first
	Items    []CaptionItem       `json:"items"`
	Bags     []CaptionBag        `json:"samples"` // of the items
	Images   []template.URL      `json:"images"`
}

// CaptionItem is a suspect on the page: caption At of bag Bag of the page.
type CaptionItem struct {
	ID          string   `json:"id"`
	Label       string   `json:"label"` // printable form of ID
	Bag         int      `json:"sample"`
	At          int      `json:"at"`
	Own         float64  `json:"own"`
	Dropped     bool     `json:"dropped"` // by the threshold
	Against     []string `json:"against"` // words that make the caption suspect
	Lacks       []string `json:"lacks"`   // words of the other captions that it lacks
	Fingerprint string   `json:"fingerprint"`
}

// CaptionBag is a bag on the page with its first captions. More counts the captions that are not shown.
type CaptionBag struct {
	ID       string         `json:"id"`
	Captions []ShownCaption `json:"captions"`
	More     int            `json:"more"`
	Image    *int           `json:"image"`

	at map[int]int // positions of captions in Captions
}

// ShownCaption is the printable form of a caption. Characters without a glyph are escaped as in Go.
type ShownCaption struct {
	Text string  `json:"text"`
	Own  float64 `json:"own"`
	Cut  int     `json:"cut"` // characters that are left out at the end
}

// Limits of the page: captions of a bag in addition to its suspects, and characters of a caption.
const (
	captionsShown   = 20
	charactersShown = 500
)

// CaptionPageOptions choose the captions on the page.
type CaptionPageOptions struct {
	Items    int     // most suspects
	MinError float64 // least probability that a suspect belongs to another bag
	// Decisions are earlier decisions. Captions with one are left out.
	Decisions misplaced.Decisions
	// Picture returns the picture of a bag as JPEG, or nil. It is called once for each bag, in the order of the suspects,
	// and may be nil.
	Picture func(bag int) []byte
}

// NewCaptionPage returns a page with the captions that least probably belong to their bags.
func NewCaptionPage(name string, r *misplaced.Report, o CaptionPageOptions) *CaptionPage {
	s := r.Summary(0, nil)
	p := &CaptionPage{Name: name, Captions: s.Captions, AllBags: s.Bags, Foreign: s.Foreign, Interval: s.Interval,
		Refused: s.Refused, Items: []CaptionItem{}, Bags: []CaptionBag{}, Images: []template.URL{}}
	var suspects [][2]int
	for _, at := range r.Lowest(-1) {
		if _, decided := o.Decisions[r.Captions[at[0]][at[1]].ID]; !decided && 1-r.Own[at[0]][at[1]] >= o.MinError {
			suspects = append(suspects, at)
		}
	}
	p.Total = len(suspects)
	suspects = suspects[:min(o.Items, len(suspects))]
	p.addBags(r, suspects, o.Picture)
	hash, bags := fnv.New64a(), map[int]int{}
	for _, at := range suspects {
		b, ok := bags[at[0]]
		if !ok {
			b = len(bags)
			bags[at[0]] = b
		}
		caption := r.Captions[at[0]][at[1]]
		item := CaptionItem{ID: caption.ID, Label: visible.Line(shortened(caption.ID, 80)), Bag: b, At: p.Bags[b].at[at[1]],
			Own: r.Own[at[0]][at[1]], Dropped: r.Dropped[at[0]][at[1]], Fingerprint: misplaced.Fingerprint(caption.Text),
			Against: []string{}, Lacks: []string{}}
		has, lacks := r.Against(at[0], at[1], misplaced.ReasonsShown)
		for _, word := range has {
			item.Against = append(item.Against, shortened(word, 40))
		}
		for _, word := range lacks {
			item.Lacks = append(item.Lacks, shortened(word, 40))
		}
		p.Items = append(p.Items, item)
		fmt.Fprintf(hash, "%q %s\n", item.ID, item.Fingerprint)
	}
	p.Key = fmt.Sprintf("%016x", hash.Sum64())
	return p
}

// addBags adds the bags of the suspects, in the order of their first ones.
func (p *CaptionPage) addBags(r *misplaced.Report, suspects [][2]int, picture func(int) []byte) {
	of := map[int]map[int]bool{} // the suspects of each bag
	var order []int
	for _, at := range suspects {
		if of[at[0]] == nil {
			of[at[0]] = map[int]bool{}
			order = append(order, at[0])
		}
		of[at[0]][at[1]] = true
	}
	for _, b := range order {
		bag := CaptionBag{ID: visible.Line(shortened(r.IDs[b], 80)), at: map[int]int{}}
		others := captionsShown
		for c, caption := range r.Captions[b] {
			if !of[b][c] {
				if others == 0 {
					bag.More++
					continue
				}
				others--
			}
			bag.at[c] = len(bag.Captions)
			bag.Captions = append(bag.Captions, shownCaption(caption.Text, r.Own[b][c]))
		}
		if picture != nil {
			bag.Image = addPicture(&p.Images, picture(b))
		}
		p.Bags = append(p.Bags, bag)
	}
}

func shownCaption(text string, own float64) ShownCaption {
	all := utf8.RuneCountInString(text)
	shown := text
	if all > charactersShown {
		end := 0
		for range charactersShown {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		shown = text[:end]
	}
	shown = strings.Join(strings.Fields(shown), " ") // line breaks become blanks
	return ShownCaption{Text: visible.Line(shown), Own: own, Cut: max(0, all-charactersShown)}
}

// WriteCaptionPage writes the page to a file.
func WriteCaptionPage(path string, p *CaptionPage) error {
	return savePage(path, "page of the captions", p.Write)
}

// Write writes the page.
func (p *CaptionPage) Write(w io.Writer) error {
	return writeDecisionPage(w, captionPageTemplate, p, htmlFile("captionaudit.css"), htmlFile("captionaudit.js"))
}
