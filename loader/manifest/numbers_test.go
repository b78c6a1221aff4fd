package manifest

import (
	"strings"
	"testing"
)

func TestParse_NumbersAfterNames(t *testing.T) {
	words := Options{Words: []string{"cat", "dog", "emu", "fox"}}
	for name, c := range map[string]struct {
		text string
		o    Options
		want string
		form Form
	}{
		"one number": {text: "a.jpg 3\nsub dir/b 1.JPG 0\r\n\nc.png\t3\n",
			want: "1 a.jpg 3; 2 sub dir/b 1.JPG 0; 4 c.png 3", form: FormIntegers},
		"two classes": {text: "a.jpg 1\nb.jpg 0\n", want: "1 a.jpg 1; 2 b.jpg 0", form: FormIntegers},
		"words":       {text: "a.jpg 3\nb.jpg 0\n", o: words, want: "1 a.jpg fox; 2 b.jpg cat", form: FormIntegers},
		"words that are numbers": {text: "a.jpg 3\n", o: Options{Words: []string{"1", "3"}}, want: "1 a.jpg 3",
			form: FormIntegers},
		"several numbers": {text: "a.jpg 0 3\nb.jpg\nc.jpg 2\n", o: words, want: "1 a.jpg cat,fox; 2 b.jpg; 3 c.jpg emu",
			form: FormIntegers},
		"flags": {text: "a.jpg 0 0 1\nb.jpg 1 0 1\nc.jpg 0 0 0\n", want: "1 a.jpg 2; 2 b.jpg 2,0; 3 c.jpg",
			form: FormColumns},
		"named flags": {text: "a.jpg 0 0 1\nb.jpg 1 0 1\n", o: words, want: "1 a.jpg emu; 2 b.jpg emu,cat",
			form: FormColumns},
		"numbers that look like flags": {text: "a.jpg 0 1\nb.jpg 1 0\n", o: Options{Form: FormIntegers},
			want: "1 a.jpg 0,1; 2 b.jpg 0,1", form: FormIntegers},
		"pairs":  {text: "a.jpg 3\nb.jpg 2\na.jpg 2\n", want: "1 a.jpg 3,2; 2 b.jpg 2", form: FormPairs},
		"videos": {text: "Archery/v_Archery_g01_c01.avi 3\n", want: "1 Archery/v_Archery_g01_c01.avi 3", form: FormIntegers},
	} {
		m, err := parseText("list.txt", c.text, c.o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		says := map[Form]string{FormIntegers: "numbers after the name of the picture",
			FormColumns: "a 0 or 1 for each after the name of the picture",
			FormPairs:   "a line for each picture and number"}[c.form]
		if got := m.numbered(); got != c.want || m.Form != c.form || !m.Headless || !strings.Contains(m.Describe(), says) {
			t.Errorf("%s: %q of form %s, %s; want %q of form %s", name, got, m.Form, m.Describe(), c.want, c.form)
		}
	}
}

func TestParse_NumbersNameWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		text string
		o    Options
		want []string
	}{
		{"a.jpg 3\nb.jpg dog\n", Options{}, []string{"line 2: ", `"b.jpg dog"`, "path,labels"}},
		{"a.jpg 3\nb.jpg 0.5\n", Options{}, []string{"line 2: ", `"b.jpg 0.5"`}},
		{"a.jpg 3\nb.jpg -1\n", Options{}, []string{"line 2: ", `"-1" is not the number of a class`}},
		{"a.jpg 3\n", Options{Words: []string{"cat"}}, []string{"line 1: there is no class 3 among the 1 word of"}},
		{"a.jpg 3\n", Options{Form: FormCommas}, []string{"`data.label_form` commas", "want integers, columns or pairs"}},
		{"a.jpg 0 1\nb.jpg 1\n", Options{Form: FormColumns}, []string{"a 0 or 1 for each class", "set integers"}},
		{"a.jpg 3" + strings.Repeat(" 1", maxLine/2), Options{}, []string{"line 1: longer than"}},
	} {
		_, err := parseText("list.txt", c.text, c.o)
		refuse(t, c.text, err, c.want...)
	}
}
