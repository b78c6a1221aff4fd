package captioner

import (
	"fmt"
	"io"
	"os"
	"slices"
	"testing"

	"nmn/internal/expect"
)

// A pipe, as shells make one of <(command), is read once, and its form is that of what comes out of it.
func TestReadCaptions_FromPipes(t *testing.T) {
	for name, text := range map[string]string{
		"list":    "\n [{\"image_id\": 7, \"caption\": \"a dog\"}]",
		"object":  `{"annotations":[{"image_id":7,"id":1,"caption":"a dog"}]}`,
		"table":   "id,caption\n7,a dog\n",
		"MSR-VTT": `{"videos":[{"video_id":"7","split":"train"}],"sentences":[{"sen_id":1,"video_id":"7","caption":"a dog"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			r, w, err := os.Pipe()
			expect.OK(t, err)
			defer r.Close()
			if _, err := io.WriteString(w, text); err != nil { // fits into the pipe
				t.Fatal(err)
			}
			expect.OK(t, w.Close())
			c, err := ReadCaptions(t.Context(), fmt.Sprintf("/dev/fd/%d", r.Fd()), "")
			if err != nil || !slices.Equal(c.IDs, []string{"7"}) || !slices.Equal(c.Of["7"], []string{"a dog"}) {
				t.Errorf("%+v, %v", c, err)
			}
		})
	}
}
