package loader

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// cocoImage and cocoCaption are elements of the arrays "images" and "annotations". Pointers tell a
// missing field from a zero.
type cocoImage struct {
	ID       *int64  `json:"id"`
	FileName *string `json:"file_name"`
	Width    int     `json:"width"`
	Height   int     `json:"height"`
	offset   int64
}

type cocoCaption struct {
	ID      *int64  `json:"id"`
	ImageID *int64  `json:"image_id"`
	Caption *string `json:"caption"`
	offset  int64
}

// cocoFile is the part of the file that captions need, element by element as it is written.
type cocoFile struct {
	name     string
	images   []cocoImage
	captions []cocoCaption
}

// place names an element for an error message.
func (f *cocoFile) place(array string, index int, offset int64) string {
	return fmt.Sprintf("captions %q, %s[%d] (near byte %d)", f.name, array, index, offset)
}

// cocoReader reads the JSON as a stream: never more than one element is held as text.
type cocoReader struct {
	file   cocoFile
	budget budgetReader
	json   *json.Decoder
}

// readCOCOFile reads both arrays and skips the rest of the object.
func readCOCOFile(name string, r io.Reader) (*cocoFile, error) {
	c := &cocoReader{file: cocoFile{name: name}, budget: budgetReader{r: r}}
	c.json = json.NewDecoder(&c.budget)
	if err := c.object(); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("captions %q end early, at byte %d: %w", name, c.json.InputOffset(), io.ErrUnexpectedEOF)
		}
		return nil, fmt.Errorf("%w: %w", err, ErrAnnotations)
	}
	return &c.file, nil
}

// grant lets the decoder read one more element.
func (c *cocoReader) grant() {
	c.budget.granted = min(c.json.InputOffset()+maxAnnotationElement, maxAnnotationBytes)
}

// next returns the next token of the JSON.
func (c *cocoReader) next() (json.Token, error) {
	c.grant()
	token, err := c.json.Token()
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("captions %q, near byte %d: %w", c.file.name, c.json.InputOffset(), err)
	}
	return token, err
}

func (c *cocoReader) object() error {
	if token, err := c.next(); err != nil {
		return err
	} else if token != json.Delim('{') {
		return fmt.Errorf("captions %q: want a JSON object with \"images\" and \"annotations\", found %v", c.file.name, token)
	}
	seen := map[string]bool{}
	for {
		key, err := c.next()
		if err != nil {
			return err
		}
		if key == json.Delim('}') {
			break
		}
		name, _ := key.(string) // the decoder allows nothing else here
		if (name == "images" || name == "annotations") && seen[name] {
			return fmt.Errorf("captions %q, near byte %d: a second %q", c.file.name, c.json.InputOffset(), name)
		}
		seen[name] = true
		if err := c.member(name); err != nil {
			return err
		}
	}
	for _, name := range []string{"images", "annotations"} {
		if !seen[name] {
			return fmt.Errorf("captions %q: there is no %q; is this a caption file of COCO?", c.file.name, name)
		}
	}
	switch _, err := c.next(); {
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return err // the end of a compressed file is missing or wrong
	}
	return fmt.Errorf("captions %q, near byte %d: something follows the JSON object", c.file.name, c.json.InputOffset())
}

// member reads the value of a key of the outer object.
func (c *cocoReader) member(name string) error {
	switch name {
	case "images":
		return readElements(c, name, func(e cocoImage, offset int64) {
			e.offset = offset
			c.file.images = append(c.file.images, e)
		})
	case "annotations":
		return readElements(c, name, func(e cocoCaption, offset int64) {
			e.offset = offset
			c.file.captions = append(c.file.captions, e)
		})
	}
	for depth := 0; ; {
		token, err := c.next()
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
		if depth > maxAnnotationDepth {
			return fmt.Errorf("captions %q, near byte %d: %q is nested more than %d deep", c.file.name, c.json.InputOffset(), clipID(name), maxAnnotationDepth)
		}
	}
}

// readElements decodes an array of objects and hands them to keep one by one.
func readElements[E any](c *cocoReader, name string, keep func(e E, offset int64)) error {
	if token, err := c.next(); err != nil {
		return err
	} else if token != json.Delim('[') {
		return fmt.Errorf("captions %q, near byte %d: %q is not an array", c.file.name, c.json.InputOffset(), name)
	}
	for i := 0; ; i++ {
		c.grant()
		if !c.json.More() {
			break
		}
		offset := c.json.InputOffset()
		if i >= maxAnnotationRecords {
			return fmt.Errorf("%s: more than %d elements", c.file.place(name, i, offset), maxAnnotationRecords)
		}
		var e *E
		c.grant()
		if err := c.json.Decode(&e); err != nil {
			return fmt.Errorf("%s: %w", c.file.place(name, i, offset), elementError(err))
		}
		if e == nil {
			return fmt.Errorf("%s: null instead of an object", c.file.place(name, i, offset))
		}
		keep(*e, offset)
	}
	_, err := c.next() // the closing bracket
	return err
}

// elementError says in the words of the file which field has the wrong type.
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
