package loader

import (
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf16"
)

func TestOpenText_ReadsUTF16(t *testing.T) {
	const want = "path,labels\r\nä.jpg,Größe 𝄞\r\n"
	for _, c := range []struct {
		order binary.AppendByteOrder
		first string // a mark, or nothing
	}{{binary.LittleEndian, "\ufeff"}, {binary.BigEndian, "\ufeff"}, {binary.LittleEndian, ""}, {binary.BigEndian, ""}} {
		order := c.order
		var content []byte
		for _, unit := range utf16.Encode([]rune(c.first + want)) {
			content = order.AppendUint16(content, unit)
		}
		for _, cut := range []int{0, 1} {
			path := filepath.Join(t.TempDir(), "table.csv")
			check(t, os.WriteFile(path, content[:len(content)-cut], 0o666))
			text, mark, err := OpenMarkedText(t.Context(), path)
			check(t, err)
			got, err := io.ReadAll(text)
			if cut == 0 && (string(got) != want || err != nil || mark != byteOrderMark) {
				t.Errorf("%v: %q, mark %q, %v", order, got, mark, err)
			}
			if cut > 0 && err == nil {
				t.Errorf("%v: half a character is no error", order)
			}
			text.Close()
		}
	}
}
