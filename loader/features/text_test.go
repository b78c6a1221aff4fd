package features

import (
	"bufio"
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	_ "nmn/format/parquet"

	"nmn/internal/expect"
)

func TestOpenCSV_HeaderSeparatorAndIdentifiers(t *testing.T) {
	for name, content := range map[string]string{
		"header":     "id,a,b,cat\np,1,2.5,1\nq,-3,4e0,0\n",
		"semicolons": "\xef\xbb\xbfid;a;b;cat\r\np;1;2.5;1\r\nq;-3;4;0\r\n",
		"tabs":       "id\ta\tb\tcat\np\t1\t2.5\t1\nq\t-3\t4\t0",
		"booleans":   "id,a,b,cat\np,TRUE,2.5,True\nq,-3,4,false\n",
		"UTF-16": "\xff\xfei\x00d\x00,\x00a\x00,\x00b\x00,\x00c\x00a\x00t\x00\n\x00" +
			"p\x00,\x001\x00,\x002\x00.\x005\x00,\x001\x00\n\x00q\x00,\x00-\x003\x00,\x004\x00,\x000\x00\n\x00",
		"quotes": "\"id\",\"a\",\"b\",\"cat\"\n\"p\",\"1\",2.5,1\n\nq, -3 , 4 ,0\n",
	} {
		table := mustOpen(t, Options{Features: file(t, "x.csv", []byte(content)), LabelColumns: []string{"cat"}})
		if got := all(t, table.Rows); !slices.Equal(got, []float32{1, 2.5, -3, 4}) ||
			!slices.Equal(table.IDs, []string{"p", "q"}) ||
			!slices.Equal(table.Columns, []string{"a", "b"}) || !slices.Equal(table.Labels.Values, []uint8{1, 0}) {
			t.Errorf("%s: %v, %+v, %+v", name, got, table, table.Labels)
		}
	}
	table := mustOpen(t, Options{Features: file(t, "x.csv", []byte("1,2,0\n3,4,1\n")), LabelColumns: []string{"3"}})
	if got := all(t, table.Rows); !slices.Equal(got, []float32{1, 2, 3, 4}) ||
		!slices.Equal(table.Labels.Values, []uint8{0, 1}) {
		t.Errorf("without a header: %v, %+v", got, table.Labels)
	}
}

func TestOpenCSV_RefusesWithLineAndColumn(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		kind    error
		says    []string
	}{
		"empty":        {"", ErrFormat, []string{"empty"}},
		"header alone": {"a,b\n", ErrFormat, []string{"no rows"}},
		"ragged":       {"a,b\n1,2\n\n1,2,3\n", ErrFormat, []string{"line 4", "3 fields", "has 2", "repair the line"}},
		"cut short":    {"a,b\n1,2\n3", ErrFormat, []string{"line 3", "1 fields", "has 2"}},
		"text": {"a,b\n1,2\n3,x\n", ErrValue, []string{"line 3", "column 2 (b)", `"x"`,
			"`data.features.ignore_columns`"}},
		"missing": {"a,b\n1,\n", ErrValue, []string{"line 2", "column 2 (b)", "NaN",
			"`data.features.missing_values` mean"}},
		"infinite":      {"a,b\n1,inf\n", ErrValue, []string{"line 2", "column 2 (b)"}},
		"large":         {"a,b\n1,1e99\n", ErrValue, []string{"line 2", "column 2 (b)", "float32"}},
		"quote":         {"a,b\n1,\"2\n", ErrFormat, []string{"quote"}},
		"repeated id":   {"id,b\np,1\nq,2\np,3\n", ErrValue, []string{"line 4", "column 1 (id)", `"p"`, "line 2"}},
		"empty id":      {"id,b\n,1\n", ErrValue, []string{"line 2", "empty"}},
		"repeated name": {"a,a\n1,2\n", ErrFormat, []string{`"a"`, "column 2", "column 1"}},
		"an index": {"id,Unnamed: 0,a\nx,0,2\n", ErrFormat, []string{"column 2 (Unnamed: 0) is an index",
			"`data.features.ignore_columns` Unnamed: 0"}},
		"an index twice": {",a\n0,2\n0,3\n", ErrValue, []string{"line 3", "column 1 (Unnamed: 0)", "reset the index",
			"`data.features.ignore_columns` Unnamed: 0"}},
		"decimal commas between commas": {"a,b\n1,\"0,5\"\n", ErrValue, []string{"line 2, column 2 (b)",
			`"0,5" has a decimal comma`}},
		"decimal commas and points": {"a;b\n0,5;1.5\n", ErrValue, []string{"column 2 (b)", "some a comma"}},
		"thousands":                 {"a;b\n1,234,5;1\n", ErrValue, []string{"column 1 (a)", "not a number"}},
		"no name":                   {"a,\n1,2\n", ErrFormat, []string{"column 2 has no name"}},
		"label":                     {"a,cat\n1,2\n", ErrValue, []string{"line 2", "column 2 (cat)", "want 0 or 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Features: file(t, "x.csv", []byte(c.content))}
			if strings.Contains(c.content, "cat") {
				o.LabelColumns = []string{"cat"}
			}
			refused(t, o, c.kind, c.says...)
		})
	}
	cut := zipped(t, "a,b\n"+strings.Repeat("1,2\n", 1000))
	refused(t, Options{Features: file(t, "x.csv.gz", cut[:len(cut)-12])}, ErrFormat, "after line ", "cut short",
		"write it again")
}

func TestOpenCSV_DecimalCommas(t *testing.T) {
	for name, text := range map[string]string{"a header": "a;b;c\n0,5;-1;3\n2;1,25;4\n", "none": "0,5;-1;3\n2;1,25;4\n"} {
		table := mustOpen(t, Options{Features: file(t, "x.csv", []byte(text))})
		if got := all(t, table.Rows); !slices.Equal(got, []float32{.5, -1, 3, 2, 1.25, 4}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The index that pandas and R write as a first column without a name is the identifier of the rows. Whole numbers match
// in the form that pandas gives them next to a gap.
func TestOpenCSV_IndexOfPandas(t *testing.T) {
	x := file(t, "x.csv", []byte(",a\n7,1\n3,2\n"))
	for name, labels := range map[string]string{"an index": ",label\n3,cat\n7,dog\n",
		"an id": "id,label\n3.0,cat\n7.0,dog\n"} {
		table := mustOpen(t, Options{Features: x, Labels: file(t, "y.csv", []byte(labels))})
		if !slices.Equal(table.IDs, []string{"7", "3"}) || !slices.Equal(table.Columns, []string{"a"}) ||
			!slices.Equal(table.Labels.Words, []string{"cat", "dog"}) ||
			!slices.Equal(table.Labels.Values, []uint8{0, 1, 1, 0}) {
			t.Errorf("%s: %q, %q, %+v", name, table.IDs, table.Columns, table.Labels)
		}
	}
}

const labelXML = `<?xml version="1.0" encoding="utf-8"?><labels xmlns="http://mulan.sourceforge.net/labels">
<label name="dog"><label name="cat d'or"></label></label></labels>`

func TestOpenARFF_DenseSparseAndNominal(t *testing.T) {
	const header = "% a comment\n@RELATION 'a b'\n\n@attribute 'size, in cm' NUMERIC % \n@attribute colour {red, " +
		"'dark blue' , green}\n@attribute on {false,true}\n" +
		"@attribute level {1,2,4}\n@attribute 'cat d\\'or' {0,1}\n@attribute dog {0,1}\n@data\n"
	header2 := strings.Replace(header, "NUMERIC % ", "real", 1)
	for name, rows := range map[string]string{
		"dense":  "1.5,'dark blue',true,4,1,0\n% between\n-2, green ,false,1,0,1\n0,red,false,1,0,0\n",
		"sparse": "{0 1.5, 1 'dark blue',2 true, 3 4,4 1}\n{0 -2,1 green,5 1}\n{ }\n",
	} {
		table := mustOpen(t, Options{Features: file(t, "x.arff", []byte(header2+rows)),
			Labels: file(t, "l.xml", []byte(labelXML))})
		want := []float32{1.5, 0, 1, 0, 1, 4, -2, 0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1}
		if got := all(t, table.Rows); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if !slices.Equal(table.Labels.Words, []string{"dog", "cat d'or"}) ||
			!slices.Equal(table.Labels.Values, []uint8{0, 1, 1, 0, 0, 0}) {
			t.Errorf("%s: %+v", name, table.Labels)
		}
	}
}

func TestOpenARFF_LabelsOfMEKA(t *testing.T) {
	for relation, want := range map[string]string{"'m: -C 1'": "a", "'m: -C -1'": "b"} {
		x := file(t, "x.arff", []byte("@relation "+relation+"\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n1,0\n"))
		if table := mustOpen(t, Options{Features: x}); !slices.Equal(table.Labels.Words, []string{want}) {
			t.Errorf("%s: %+v", relation, table.Labels)
		}
	}
}

func TestOpenARFF_MissingValues(t *testing.T) {
	x := file(t, "x.arff", []byte("@relation r\n@attribute a real\n@attribute c {x,y,z}\n@data\n?,?\n1,y\n"))
	got := all(t, mustOpen(t, Options{Features: x, Missing: true}).Rows)
	for i, v := range got[:4] {
		if v == v {
			t.Errorf("number %d is %v, want NaN", i, v)
		}
	}
	if !slices.Equal(got[4:], []float32{1, 0, 1, 0}) {
		t.Errorf("%v", got)
	}
	refused(t, Options{Features: x}, ErrValue, "line 5", "column 1 (a)", "`data.features.missing_values` mean")
}

func TestOpenARFF_RefusesWithLine(t *testing.T) {
	const h = "@relation r\n@attribute a real\n@attribute b {u,v}\n@data\n"
	for name, c := range map[string]struct {
		content string
		kind    error
		says    []string
	}{
		"no data":     {"@relation r\n@attribute a real\n", ErrFormat, []string{"no @data"}},
		"keyword":     {"@relation r\n@atribute a real\n", ErrFormat, []string{"line 2", "@atribute"}},
		"type":        {"@relation r\n@attribute a relational\n", ErrFormat, []string{"line 2", `"a"`, "relational"}},
		"no values":   {"@relation r\n@attribute a {x,y\n", ErrFormat, []string{"line 2", "closing brace"}},
		"value twice": {"@relation r\n@attribute a {x,x}\n", ErrFormat, []string{"line 2", "given twice"}},
		"name twice":  {"@relation r\n@attribute a real\n@attribute a real\n@data\n1,2\n", ErrFormat, []string{`"a"`}},
		"open quote":  {"@relation r\n@attribute 'a real\n", ErrFormat, []string{"line 2", "not closed"}},
		"ragged":      {h + "1,u\n1\n", ErrFormat, []string{"line 6", "1 values for 2", "? for a missing one"}},
		"too many":    {h + "1,u\n1,u,v\n", ErrFormat, []string{"line 6", "3 values for 2"}},
		"weight":      {h + "1,u,{3}\n", ErrFormat, []string{"line 5", "weights"}},
		"other value": {h + "1,w\n", ErrValue, []string{"line 5", "column 2 (b)", `"w"`}},
		"number":      {h + "x,u\n", ErrValue, []string{"line 5", "column 1 (a)", `"x"`}},
		"index":       {h + "{2 1}\n", ErrFormat, []string{"line 5", `"2"`, "0 to 1", "2 attributes"}},
		"index again": {h + "{1 u,1 v}\n", ErrFormat, []string{"line 5", "must rise"}},
		"sparse open": {h + "{1 u\n", ErrFormat, []string{"line 5", "closing brace"}},
		"text": {"@relation r\n@attribute s string\n@data\nx\n",
			ErrValue, []string{"column 1 (s)", "`data.features.ignore_columns`"}},
		"data at first": {"@data\n", ErrFormat, []string{"line 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, Options{Features: file(t, "x.arff", []byte(c.content))}, c.kind, c.says...)
		})
	}
	cut := zipped(t, h+strings.Repeat("1,u\n", 1000))
	refused(t, Options{Features: file(t, "x.arff.gz", cut[:len(cut)-3])}, ErrFormat, "after line ", "cut short",
		"write it again")
	refused(t, Options{Features: file(t, "x.arff", []byte(h+"1,u\n")), Labels: file(t, "l.xml", []byte(labelXML))},
		ErrFormat, `no column for the label "dog"`)
}

func TestReadLabelXML_Refuses(t *testing.T) {
	for content, says := range map[string]string{
		"<labels></labels>": "names no label", "<labels><label/></labels>": "no name",
		"<labels><label name='a'>":                                "EOF",
		"<labels>\n<label name='a'/>\n<label name='a'/></labels>": "line 3: the label \"a\" is that of line 2",
		"dog": "names no label",
	} {
		if _, err := parseLabelXML(strings.NewReader(content)); !errors.Is(err, ErrFormat) ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", content, err, says)
		}
	}
}

// parquetFile writes rows.
func parquetFile[T any](t *testing.T, rows []T, options ...parquet.WriterOption) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.parquet")
	expect.OK(t, parquet.WriteFile(path, rows, append(options, parquet.MaxRowsPerRowGroup(100))...))
	return path
}

// The index of pandas, which may have a name, identifies rows. Times are no features.
func TestOpenParquet_IndexOfPandas(t *testing.T) {
	type row struct {
		A        float64   `parquet:"a"`
		Customer int64     `parquet:"customer"`
		When     time.Time `parquet:"when,timestamp"`
	}
	rows := []row{{A: 1, Customer: 70}, {A: 2, Customer: 30}}
	index := func(columns string) parquet.WriterOption {
		return parquet.KeyValueMetadata("pandas", `{"index_columns": [`+columns+`]}`)
	}
	table := mustOpen(t, Options{Features: parquetFile(t, rows, index(`"customer"`)), Ignore: []string{"when"}})
	if !slices.Equal(table.IDs, []string{"70", "30"}) || !slices.Equal(table.Columns, []string{"a"}) {
		t.Errorf("%q, %q", table.IDs, table.Columns)
	}
	for _, none := range []string{`{"kind": "range", "start": 0}`, `"a", "customer"`, "["} {
		table := mustOpen(t, Options{Features: parquetFile(t, rows, index(none)), Ignore: []string{"when"}})
		if table.IDs != nil || len(table.Columns) != 2 {
			t.Errorf("%s: %q, %q", none, table.IDs, table.Columns)
		}
	}
	refused(t, Options{Features: parquetFile(t, rows)}, ErrValue, "column 3 (when)", "it holds dates or times")
}

func TestOpenParquet_VectorsAndLists(t *testing.T) {
	type row struct {
		ID     string    `parquet:"id"`
		Vector []float32 `parquet:"embedding,list"`
		Labels []string  `parquet:"labels,list"`
		Split  string    `parquet:"split"`
	}
	rows := make([]row, 250) // several groups
	for i := range rows {
		rows[i] = row{ID: string(rune('A'+i/26)) + string(rune('a'+i%26)), Vector: []float32{float32(i), 2}, Split: "train"}
		if i%2 == 0 {
			rows[i].Labels = []string{"even", "whole"}
		}
	}
	path := parquetFile(t, rows)
	table := mustOpen(t, Options{Features: path})
	got := all(t, table.Rows)
	if len(got) != 500 || got[2*249] != 249 || got[1] != 2 || table.IDs[27] != "Bb" ||
		!slices.Equal(table.Columns, []string{"embedding"}) {
		t.Errorf("%d numbers, ids %v", len(got), table.IDs[:3])
	}
	if !slices.Equal(table.Labels.Words, []string{"even", "whole"}) ||
		!slices.Equal(table.Labels.Values[:6], []uint8{1, 1, 0, 0, 1, 1}) {
		t.Errorf("%v %v", table.Labels.Words, table.Labels.Values[:6])
	}
	rows[7].Vector = []float32{1}
	refused(t, Options{Features: parquetFile(t, rows)}, ErrFormat, "row 8", "embedding", "1 numbers")
	rows[7].Vector = []float32{1, float32(math.NaN())}
	refused(t, Options{Features: parquetFile(t, rows)}, ErrValue, "row 8", "embedding", "number 2 is NaN")
	whole, err := os.ReadFile(path)
	expect.OK(t, err)
	claims := slices.Clone(whole)
	claims[len(claims)-5] = 0xff // 4 GB of metadata
	refused(t, Options{Features: file(t, "claims.parquet", claims)}, ErrFormat, "does not end as")
	for _, n := range []int{0, 5, len(whole) / 2, len(whole) - 5} {
		refused(t, Options{Features: file(t, "cut.parquet", whole[:n])}, ErrFormat, "write it again")
	}
	spoiled := slices.Clone(whole)
	clear(spoiled[10:100])
	refused(t, Options{Features: file(t, "spoiled.parquet", spoiled)}, ErrFormat, "spoiled.parquet", "after row 0",
		"write it again")
	// pyarrow 25 wrote the file.
	refused(t, Options{Features: filepath.Join("testdata", "no-rows.parquet")}, ErrFormat, "it has no rows")
}

func TestOpenParquet_Columns(t *testing.T) {
	type row struct {
		A   float64  `parquet:"a"`
		B   *int64   `parquet:"b,optional"`
		Cat bool     `parquet:"cat"`
		Dog int32    `parquet:"dog"`
		X   string   `parquet:"x"`
		N   []string `parquet:"n"`
	}
	seven := int64(7)
	path := parquetFile(t, []row{{A: .5, B: &seven, Cat: true, X: "p"}, {A: 1.5, Dog: 1, X: "q"}})
	o := Options{Features: path, LabelColumns: []string{"cat", "dog"}, Ignore: []string{"n"}, IDColumn: "x"}
	refused(t, o, ErrValue, "row 2", "(b)", "NaN")
	o.Missing = true
	table := mustOpen(t, o)
	got := all(t, table.Rows)
	if got[0] != .5 || got[1] != 7 || got[2] != 1.5 || got[3] == got[3] ||
		!slices.Equal(table.Labels.Values, []uint8{1, 0, 0, 1}) || table.IDs[1] != "q" {
		t.Errorf("%v %v %v", got, table.Labels, table.IDs)
	}
	o.Ignore = nil
	refused(t, o, ErrFormat, "row 1", "(n)")
	o.Ignore, o.IDColumn = []string{"n"}, ""
	refused(t, o, ErrValue, "row 1", "(x)", "not a number")
}

// checkRecords reads a fuzzed table: rows are complete, or the error has a known kind.
func checkRecords(t *testing.T, r records) {
	o := Options{Limit: 1 << 20, Missing: true}
	l, err := o.layout(r.columns(), nil, indexColumn(r))
	if err == nil && len(l.features) > 0 {
		var d *decoded
		if d, err = o.decode(t.Context(), "fuzz", r, l, observedLabels()); err == nil &&
			(d.rows == 0 || d.kept.Len() != d.rows) {
			t.Errorf("features of %d rows for %d rows of %d", d.kept.Len(), d.rows, d.width)
		}
	}
	if err != nil {
		ofAKind(t, err)
	}
}

// ofAKind checks that an error has one of the package's kinds.
func ofAKind(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, ErrFormat) && !errors.Is(err, ErrValue) {
		t.Errorf("an error of no kind: %v", err)
	}
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "1;2\n3;?\n", "id\tlabels\tv\nx\tcat|dog\t1\n", "\"a\nb\",c\n1,2\n",
		"a\n1e99\n", "split,v\n,1\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := newCSV(bufio.NewReader(strings.NewReader(string(b))), maxLine, false)
		if err != nil {
			ofAKind(t, err)
			return
		}
		checkRecords(t, c)
	})
}

// Lengths that a file claims cost no memory before they are compared with the file.
func FuzzParquet(f *testing.F) {
	type row struct {
		ID     string    `parquet:"id"`
		Vector []float32 `parquet:"embedding,list"`
		Labels []string  `parquet:"labels,list"`
		A      float64   `parquet:"a"`
	}
	for _, codec := range []parquet.WriterOption{parquet.Compression(&parquet.Uncompressed),
		parquet.Compression(&parquet.Snappy)} {
		var b bytes.Buffer
		if err := parquet.Write(&b, []row{{"a", []float32{1, 2}, []string{"x"}, 1}, {"b", []float32{3, 4}, nil, 2}},
			codec); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
		claims := slices.Clone(b.Bytes())
		claims[len(claims)-5] = 0xff // the length of the metadata
		f.Add(claims)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := newParquet(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			ofAKind(t, err)
			return
		}
		checkRecords(t, p)
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
}

func FuzzARFF(f *testing.F) {
	for _, s := range []string{
		"@relation r\n@attribute a real\n@attribute 'b c' {x,'y z'}\n@data\n1,'y z'\n{0 2}\n?,?\n",
		"@relation 'm: -C 1'\n@attribute a {0,1}\n@data\n1\n",
		"@attribute a {\"x\\\"y\"}\n@data\n%\n{}\n", "@data", "@attribute {a} {b}\n@data\n{0 b}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := newARFF(bufio.NewReader(strings.NewReader(string(b))))
		if err != nil {
			ofAKind(t, err)
			return
		}
		a.meka()
		checkRecords(t, a)
	})
}

func FuzzLabelXML(f *testing.F) {
	for _, s := range []string{labelXML, "<labels><label name='a'/></labels>", "<label name='&#x41;'>",
		"<!DOCTYPE x [<!ENTITY a 'b'>]><label name='&a;'/>"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		names, err := parseLabelXML(strings.NewReader(string(b)))
		if err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("an error of no kind: %v", err)
		}
		if err == nil && (len(names) == 0 || slices.Contains(names, "")) {
			t.Errorf("names %q", names)
		}
	})
}

// A missing number keeps its place in its vector. Without it, every later number would belong to another
// feature.
func TestParquet_ANullInAVectorIsRefused(t *testing.T) {
	type row struct {
		Vector []*float32 `parquet:"embedding,list"`
		Labels []*string  `parquet:"labels,list"`
	}
	one, two, three, cat, dog := float32(1), float32(2), float32(3), "cat", "dog"
	whole := row{[]*float32{&one, &two, &three}, []*string{&cat}}
	for name, rows := range map[string][]row{
		"in every row": {{[]*float32{&one, nil, &three}, nil}, {[]*float32{&two, nil, &one}, nil}},
		"in one row":   {whole, {[]*float32{&one, nil, &three}, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, Options{Features: parquetFile(t, rows)}, ErrValue, "embedding", "number 2 is NaN")
		})
	}
	// A label that is not there is none.
	whole.Labels = []*string{&cat, nil, &dog}
	table := mustOpen(t, Options{Features: parquetFile(t, []row{whole})})
	if !slices.Equal(all(t, table.Rows), []float32{1, 2, 3}) || !slices.Equal(table.Labels.Words, []string{"cat", "dog"}) {
		t.Errorf("%v with labels %+v", all(t, table.Rows), table.Labels)
	}
}
