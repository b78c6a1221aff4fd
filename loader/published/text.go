package published

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"

	"nmn/internal/visible"
)

// Write prints what was found: files with their digests, and counts next to the published ones. Findings are
// not included.
func (f *Folder) Write(out io.Writer) error {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, file := range f.Files {
		known := "not as published"
		switch file.Published {
		case "":
			known = "no published digest is known"
		case file.SHA256:
			known = "as published"
		}
		fmt.Fprintf(w, "%s\t%d bytes\tSHA-256 %s\t%s\n", visible.Line(file.Path), file.Bytes, file.SHA256, known)
	}
	_ = w.Flush() // into memory
	for _, c := range f.Counts {
		if c.Want > 0 {
			fmt.Fprintf(&b, "%s: %d of %d\n", visible.Line(c.What), c.Found, c.Want)
		} else {
			fmt.Fprintf(&b, "%s: %d\n", visible.Line(c.What), c.Found)
		}
	}
	_, err := out.Write(b.Bytes())
	return err
}
