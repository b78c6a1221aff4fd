package dataset

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"path/filepath"
	"testing"

	"nmn/loader"
	"nmn/loader/picture"
	"nmn/text"
)

func TestPictures_AreDecodedUpToTheirLimitAndAllWithoutOne(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 3))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "a.png")
	writeFile(t, file, b.String())
	words, err := text.NewVocabulary([]text.Word{{Text: "dog"}})
	if err != nil {
		t.Fatal(err)
	}
	for limit, want := range map[int]error{0: nil, 12: nil, 11: loader.ErrCorrupt} {
		var p picture.Picture
		if err := Pictures([]string{file}, words, limit).Source.Read(t.Context(), 0, 0, &p); !errors.Is(err, want) {
			t.Errorf("12 pixels, at most %d: %v", limit, err)
		}
	}
}
