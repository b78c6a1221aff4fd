package annotation

import (
	"archive/zip"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"nmn/loader"
)

// captionFile is what messages call files of captions.
const captionFile = "captions"

// fileFormat is a JSON object with arrays of objects. Nothing else in it is read.
type fileFormat struct {
	title  string // for messages, for example "a caption file of COCO"
	arrays []fileArray
}

type fileArray struct {
	name string
	read func(*fileReader) error
}

// elements is an array whose elements are handed to keep one by one, with their position in the file. Errors of keep
// get the place of the element.
func elements[E any](name string, keep func(e E, offset int64) error) fileArray {
	return fileArray{name, func(r *fileReader) error { return readElements(r, name, keep) }}
}

// array is the array of a name; nil for none.
func (f *fileFormat) array(name string) *fileArray {
	at := slices.IndexFunc(f.arrays, func(a fileArray) bool { return a.name == name })
	if at < 0 {
		return nil
	}
	return &f.arrays[at]
}

// names lists the arrays, as `"images" and "annotations"`.
func (f *fileFormat) names() string {
	quoted := make([]string, len(f.arrays))
	for i, array := range f.arrays {
		quoted[i] = fmt.Sprintf("%q", array.name)
	}
	return strings.Join(quoted, " and ")
}

// elementPlace names an element for an error message.
func elementPlace(what, file, array string, index int, offset int64) string {
	return fmt.Sprintf("%s %q, %s[%d] (near byte %d)", what, file, array, index, offset)
}

// fileReader reads the JSON as a stream: never more than one element is held as text.
type fileReader struct {
	what   string // content of the file, for messages: captions
	name   string
	budget budgetReader
	json   *json.Decoder
}

// readFile reads a file in one of the formats; the first array decides which. what names the content in
// messages. All of the format's arrays must be there, once; the rest of the object is skipped.
func readFile(what, name string, r io.Reader, formats ...fileFormat) (*fileFormat, error) {
	a := &fileReader{what: what, name: name, budget: budgetReader{r: r}}
	a.json = json.NewDecoder(&a.budget)
	format, err := a.object(formats)
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf(a.what+" %q end early, at byte %d: %w", name, a.json.InputOffset(), io.ErrUnexpectedEOF)
		}
		return nil, loader.Unusable(err)
	}
	return format, nil
}

// grant lets the decoder read one more element.
func (a *fileReader) grant() {
	a.budget.granted = min(a.json.InputOffset()+maxElementBytes, maxFileBytes)
}

func (a *fileReader) next() (json.Token, error) {
	a.grant()
	token, err := a.json.Token()
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf(a.what+" %q, near byte %d: %w", a.name, a.json.InputOffset(), err)
	}
	return token, err
}

func (a *fileReader) object(formats []fileFormat) (*fileFormat, error) {
	if token, err := a.next(); err != nil {
		return nil, err
	} else if token != json.Delim('{') {
		return nil, fmt.Errorf(a.what+" %q: want a JSON object with %s, found %v",
			a.name, alternatives(formats, (*fileFormat).names), token)
	}
	var format *fileFormat
	seen := map[string]bool{}
	for {
		key, err := a.next()
		if err != nil {
			return nil, err
		}
		if key == json.Delim('}') {
			break
		}
		name, _ := key.(string) // the decoder allows nothing else here
		at := slices.IndexFunc(formats, func(f fileFormat) bool { return f.array(name) != nil })
		if format == nil && at >= 0 {
			format = &formats[at]
		}
		var array *fileArray
		if format != nil {
			array = format.array(name)
		}
		switch {
		case array == nil:
			err = a.skip(name)
		case seen[name]:
			err = fmt.Errorf(a.what+" %q, near byte %d: a second %q", a.name, a.json.InputOffset(), name)
		default:
			seen[name], err = true, array.read(a)
		}
		if err != nil {
			return nil, err
		}
	}
	if format == nil {
		return nil, fmt.Errorf(a.what+" %q: there is no %q; is this %s?", a.name, formats[0].arrays[0].name,
			alternatives(formats, func(f *fileFormat) string { return f.title }))
	}
	for _, array := range format.arrays {
		if !seen[array.name] {
			return nil, fmt.Errorf(a.what+" %q: there is no %q; is this %s?", a.name, array.name, format.title)
		}
	}
	switch _, err := a.next(); {
	case errors.Is(err, io.EOF):
		return format, nil
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader),
		errors.Is(err, zip.ErrChecksum):
		return nil, err // the end of a compressed file is missing or wrong
	}
	return nil, fmt.Errorf(a.what+" %q, near byte %d: something follows the JSON object", a.name, a.json.InputOffset())
}

// alternatives joins the results of a function for each format by "or".
func alternatives(formats []fileFormat, say func(*fileFormat) string) string {
	all := make([]string, len(formats))
	for i := range formats {
		all[i] = say(&formats[i])
	}
	return strings.Join(all, " or ")
}

// skip reads over a value.
func (a *fileReader) skip(name string) error {
	for depth := 0; ; {
		token, err := a.next()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
		if depth > maxDepth {
			return fmt.Errorf(a.what+" %q, near byte %d: %q is nested more than %d deep",
				a.name, a.json.InputOffset(), loader.Excerpt(name), maxDepth)
		}
	}
}

// readElements decodes an array of objects and hands them to keep one by one.
func readElements[E any](a *fileReader, name string, keep func(e E, offset int64) error) error {
	if token, err := a.next(); err != nil {
		return err
	} else if token != json.Delim('[') {
		return fmt.Errorf(a.what+" %q, near byte %d: %q is not an array", a.name, a.json.InputOffset(), name)
	}
	for i := 0; ; i++ {
		a.grant()
		if !a.json.More() {
			_, err := a.next() // the closing bracket
			return err
		}
		offset := a.json.InputOffset()
		var e *E
		a.grant()
		err := elementError(a.json.Decode(&e))
		switch {
		case i >= maxElements:
			err = fmt.Errorf("more than %d elements", maxElements)
		case err == nil && e == nil:
			err = errors.New("null instead of an object")
		case err == nil:
			err = keep(*e, offset)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", elementPlace(a.what, a.name, name, i, offset), err)
		}
	}
}

// elementError returns, in the terms of the file, which field has the wrong type.
func elementError(err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		kind := "an object"
		switch wrong.Type.Kind().String() {
		case "int", "int64":
			kind = "a whole number"
		case "string":
			kind = "a string"
		}
		return fmt.Errorf("field %q is a %s, want %s", wrong.Field, wrong.Value, kind)
	}
	return err
}
