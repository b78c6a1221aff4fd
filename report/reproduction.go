package report

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"nmn/eval"
	"nmn/report/chart"
)

var reproductionTemplate = htmlTemplate("reproduction")

// Reproduction holds the tables and figures of a paper that were made again. It can be written as one self-contained
// page of HTML, and as Markdown.
type Reproduction struct {
	Title    string
	Lead     []string    // paragraphs
	Facts    []Explained // what was run, by which program
	Claims   []*Table
	Plots    []PlottedClaim // the claims as the page draws them; Claims and Details are the tables, folded there
	Details  []*Table       // the comparisons that decide the claims
	Parts    []ReproducedPart
	Rerun    []string    // how to run it again, in paragraphs
	Settings []Explained // titles and texts of all configurations, folded on the page
}

// ReproducedPart is a table or a figure of the paper.
type ReproducedPart struct {
	ID, Title string
	Skip      string   // why it was not made; empty if it was
	Notes     []string // how to read it, in paragraphs
	Tables    []*Table
	Apart     []*Table // published figures of other data, folded
	Levels    []Run    // drawn as AP against the share of replaced captions; nil for no chart
	Figure3   bool     // the paper's Figure 3 is drawn here
	Compared  []Comparison
}

type reproducedSection struct {
	*ReproducedPart
	Charts        []pageChart
	Shown, Others []pageTable
	Sides         []comparisonSection
}

// WriteHTML writes the page.
func (r *Reproduction) WriteHTML(w io.Writer) error {
	var parts []reproducedSection
	for i := range r.Parts {
		p := &r.Parts[i]
		charts, err := p.charts()
		if err != nil {
			return err
		}
		parts = append(parts, reproducedSection{ReproducedPart: p, Charts: pageCharts(p.ID, charts),
			Shown: pageTables(p.Tables), Others: pageTables(p.Apart), Sides: comparisonSections(p.ID+"-arms", p.Compared)})
	}
	return reproductionTemplate.Execute(w, struct {
		Style    template.CSS
		Page     *Reproduction
		Verdicts []outcomeCount
		Groups   []claimGroup
		Tables   []pageTable
		Parts    []reproducedSection
	}{template.CSS(pageStyle + htmlFile("bags.css") + htmlFile("claims.css")), r, outcomeCounts(r.Plots),
		claimGroups(r.Plots),
		pageTables(slices.Concat(r.Claims, r.Details)), parts})
}

func (p *ReproducedPart) charts() (charts []numbered, err error) {
	if !p.Figure3 {
		return levelCharts(p.Levels)
	}
	for _, c := range figure3Charts() {
		charts = append(charts, numbered{Chart: c})
	}
	return charts, nil
}

// levelCharts draws AP with human agreement against the share of replaced captions, with a line for each arm. Arms
// without and with MIL have separate charts. One level alone has none.
func levelCharts(runs []Run) ([]numbered, error) {
	cells, err := group(runs)
	if err != nil {
		return nil, err
	}
	var out []numbered
	low, high := 100.0, 0.0
	for _, mil := range []bool{false, true} {
		c := &chart.Chart{Title: "AP by share of replaced captions", X: chart.Axis{Label: "replaced captions, %"},
			Y: chart.Axis{Label: "AP with human agreement, %"}, Summary: "A line for each arm, the mean over its seeds at " +
				"each level."}
		if mil {
			c.Title += ", with MIL"
		} else {
			c.Title += ", without MIL"
		}
		lines := map[string]int{}
		levels := 0
		for _, cell := range cells {
			if cell.mil != mil {
				continue
			}
			v := humanCells(cell.runs, humanOf).All.Value
			if !v.Defined() {
				continue
			}
			at, ok := lines[cell.arm]
			if !ok {
				at = len(c.Marks)
				lines[cell.arm] = at
				c.Marks = append(c.Marks, chart.Mark{Name: cell.runs[0].armTitle(), Color: chart.Color(at % chart.Colors),
					Dashed: everyOther(at)})
			}
			c.Marks[at].Points = append(c.Marks[at].Points, chart.Point{X: 100 * cell.noise, Y: float64(v)})
			levels = max(levels, len(c.Marks[at].Points))
			low, high = min(low, float64(v)), max(high, float64(v))
		}
		if levels > 1 {
			out = append(out, numbered{Chart: c})
		}
	}
	room := max(.5, .06*(high-low))
	for _, c := range out {
		c.Y.Min, c.Y.Max = max(0, low-room), min(100, high+room)
	}
	return out, nil
}

// WriteMarkdown writes the page as Markdown without pictures.
func (r *Reproduction) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	escaped := func(s string) string { return markdownEscapes.Replace(s) }
	fmt.Fprintf(&b, "# %s\n\n", escaped(r.Title))
	for _, p := range r.Lead {
		fmt.Fprintf(&b, "%s\n\n", escaped(p))
	}
	for _, f := range r.Facts {
		fmt.Fprintf(&b, "- **%s**: %s\n", escaped(f.Name), escaped(f.Meaning))
	}
	if len(r.Claims) > 0 {
		b.WriteString("\n## Claims\n\n")
		if err := Write(&b, Markdown, slices.Concat(r.Claims, r.Details)...); err != nil {
			return err
		}
	}
	for i := range r.Parts {
		if err := r.Parts[i].markdown(&b); err != nil {
			return err
		}
	}
	if len(r.Rerun) > 0 {
		b.WriteString("\n## To run it again\n\n")
		for _, p := range r.Rerun {
			fmt.Fprintf(&b, "%s\n\n", escaped(p))
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

func (p *ReproducedPart) markdown(b *strings.Builder) error {
	fmt.Fprintf(b, "\n## %s\n\n", markdownEscapes.Replace(p.Title))
	if p.Skip != "" {
		fmt.Fprintf(b, "Skipped: %s.\n", markdownEscapes.Replace(p.Skip))
		return nil
	}
	tables := append(append([]*Table{}, p.Tables...), p.Apart...)
	for i := range p.Compared {
		tables = append(tables, p.Compared[i].table())
	}
	if err := Write(b, Markdown, tables...); err != nil {
		return err
	}
	for _, n := range p.Notes {
		fmt.Fprintf(b, "\n%s\n", markdownEscapes.Replace(n))
	}
	return nil
}

func (c *Comparison) table() *Table {
	t := &Table{Title: c.Title, Columns: []Column{{Name: "picture", Text: true}}, Stacked: true,
		Notes: []string{"✓ predicted and right, ✗ predicted but incorrect, + missing, compared with the " + c.Against +
			" of the " + c.SplitName() + " set. " + c.Chosen + "."}}
	for _, a := range c.Arms {
		t.Columns = append(t.Columns, Column{Name: a.Name, Text: true})
	}
	for _, bag := range c.Bags {
		row := Row{Cells: []Cell{words(bag.ID)}}
		for _, says := range bag.Says {
			var all []string
			for _, l := range says.Labels {
				all = append(all, l.Kind.Mark()+" "+l.Word)
			}
			row.Cells = append(row.Cells, words(strings.Join(all, ", ")))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Facts returns a table of names and values for a terminal.
func Facts(title string, facts []Explained) *Table {
	t := &Table{Title: title, Columns: []Column{{Name: "name", Text: true}, {Name: "value", Text: true}}}
	for _, f := range facts {
		t.AddRow(words(f.Name), words(f.Meaning))
	}
	return t
}

// TextCell returns a cell of text.
func TextCell(s string) Cell { return words(s) }

// NumberCell returns a cell with a number and no spread. An undefined number is shown as a dash.
func NumberCell(v eval.Number) Cell { return number(v) }
