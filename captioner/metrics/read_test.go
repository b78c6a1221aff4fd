package metrics

import (
	"errors"
	"strings"
	"testing"
)

func TestRead_TakesEveryForm(t *testing.T) {
	for name, content := range map[string]string{
		"results": `[{"image_id": 7, "caption": "a dog"}, {"image_id": 9, "caption": "a cat"}, {"image_id": 7,` +
			` "caption": "dogs"}]`,
		"annotations": `{"info": {}, "annotations": [{"id": 1, "image_id": 7, "caption": "a dog"}, {"id": 2,` +
			` "image_id": 9, "caption": "a cat"}, {"id": 3, "image_id": 7, "caption": "dogs"}]}`,
		"lists": "\ufeff" + `{"7": ["a dog", "dogs"], "9": ["a cat"]}`,
		"lines": `{"video_id": "7", "caption": "a dog"}` + "\n\n" + `{"video_id": "9", "caption": "a cat"}` +
			"\n" + `{"video_id": "7", "caption": "dogs"}`,
		"csv": "ID,score,caption\n7,.1,a dog\n9,.2,a cat\n7,.3,dogs\n",
	} {
		c, err := Read(name, strings.NewReader(content))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(c.IDs, " ") + ": " + strings.Join(c.Of["7"], ", ") + "; " + strings.Join(c.Of["9"],
			", "); got != "7 9: a dog, dogs; a cat" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestRead_NamesWhatIsWrong(t *testing.T) {
	for content, want := range map[string]string{
		"":                                   "empty file",
		"[]":                                 "there are none",
		`[{"image_id": 7}]`:                  "element 0: it lacks",
		`[{"image_id": [], "caption": "a"}]`: "want a number or a string",
		`[{"image_id": 7, "capti`:            "unexpected end",
		`{"7": "a dog"}`:                     `captions of "7"`,
		`{"image_id": 7, "caption": "a"}` + "\n{": "line 2",
		"id,words\n1,a\n":                         "columns id and caption",
		"id,caption\n1\n":                         "line 2",
		"id,caption\n1,a\n2,caf\xe9\n":            "line 3 is not UTF-8 (byte 21)",
	} {
		_, err := Read("f", strings.NewReader(content))
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
}

func TestJoin_NamesWhatDoesNotBelong(t *testing.T) {
	of := func(pairs ...[2]string) *Captions {
		c := &Captions{Of: map[string][]string{}}
		for _, p := range pairs {
			c.add(p[0], p[1])
		}
		return c
	}
	references := of([2]string{"1", "a dog"}, [2]string{"1", "dogs"}, [2]string{"2", "a cat"})
	items, err := Join(of([2]string{"2", "cats"}, [2]string{"1", "a wolf"}), references, false)
	if err != nil || len(items) != 2 || items[1].ID != "1" || len(items[1].References) != 2 {
		t.Errorf("%+v, %v", items, err)
	}
	if _, err := Join(of([2]string{"2", "cats"}), references, false); !errors.Is(err, ErrInput) ||
		!strings.Contains(err.Error(), "1 of 2 pictures with references have no generated caption, the first is 1") {
		t.Errorf("%v", err)
	}
	if items, err := Join(of([2]string{"2", "cats"}), references, true); err != nil || len(items) != 1 {
		t.Errorf("%+v, %v", items, err)
	}
	for want, candidates := range map[string]*Captions{
		"3 (caption 2) is not among the 2": of([2]string{"2", "cats"}, [2]string{"3", "a cow"}),
		"2 has 2 generated":                of([2]string{"2", "cats"}, [2]string{"2", "a cow"}),
	} {
		if _, err := Join(candidates, references, true); !errors.Is(err, ErrInput) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`[{"image_id": 7, "caption": "a dog"}]`))
	f.Add([]byte(`{"annotations": [{"image_id": "x", "caption": "a"}]}`))
	f.Add([]byte(`{"7": ["a dog", "dogs"]}`))
	f.Add([]byte("id,caption\n1,\"a\n"))
	f.Add([]byte(`{"image_id": 1, "caption": "a"}` + "\n" + `{"image_id": 1, "caption": "b"}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := Read("f", strings.NewReader(string(content)))
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Errorf("%v does not wrap ErrFormat", err)
			}
			return
		}
		if len(c.IDs) == 0 || len(c.IDs) != len(c.Of) {
			t.Errorf("%d identifiers of %d pictures", len(c.IDs), len(c.Of))
		}
	})
}
