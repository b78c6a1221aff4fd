package features

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
)

// maxXML bounds a file of label names: a million of them.
const maxXML = 64 << 20

// readLabelXML reads the names of labels as Mulan lists them, in their order:
//
//	<labels xmlns="http://mulan.sourceforge.net/labels"><label name="Beach"></label>...</labels>
//
// Labels inside of labels, which describe a hierarchy, count like others.
func readLabelXML(ctx context.Context, name string) ([]string, error) {
	f, err := openRegular(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := parseLabelXML(f)
	if err != nil {
		return nil, fmt.Errorf("features: labels %q: %w", name, err)
	}
	return names, nil
}

// readErrors stores the error of a reader, apart from errors about the content.
type readErrors struct {
	io.Reader
	err error
}

func (r *readErrors) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

func parseLabelXML(r io.Reader) ([]string, error) {
	source := &readErrors{Reader: r}
	limited := &io.LimitedReader{R: source, N: maxXML}
	decoder := xml.NewDecoder(limited)
	var names []string
	first := map[string]int{}
	var syntax *xml.SyntaxError
	for {
		element, err := decoder.Token()
		line, _ := decoder.InputPos()
		switch {
		case limited.N <= 0:
			return nil, formatf("larger than %d bytes", maxXML)
		case errors.Is(err, io.EOF) && len(names) == 0:
			return nil, formatf("it names no label; want <labels><label name=\"...\"/></labels>")
		case errors.Is(err, io.EOF):
			return names, nil
		case errors.As(err, &syntax):
			return nil, formatf("%v", err)
		case source.err != nil:
			return nil, source.err
		case err != nil: // an error of the text, such as an unknown version or encoding
			return nil, formatf("%v", err)
		}
		start, ok := element.(xml.StartElement)
		if !ok || start.Name.Local != "label" {
			continue
		}
		name := attributeOf(start, "name")
		if name == "" {
			return nil, formatf("line %d: the label has no name", line)
		}
		if before, twice := first[name]; twice {
			return nil, formatf("line %d: the label %q is that of line %d again", line, clip(name), before)
		}
		first[name] = line
		names = append(names, name)
	}
}

func attributeOf(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
