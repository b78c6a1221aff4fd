package annotators

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestCheck_RefusesWhatNoTableCanHave(t *testing.T) {
	ann, bob := Row{Given: []int32{0, 2}}, Row{Bag: 1, Annotator: 1, Given: []int32{1}, Unknown: []int32{0},
		Asked: []int32{0, 1}}
	good := func() Input { return Input{Bags: 2, Annotators: 2, Classes: 3, Rows: []Row{ann, bob}} }
	inf := float32(math.Inf(-1))
	for name, c := range map[string]struct {
		change func(in *Input)
		says   string // empty for what is good
	}{
		"good":             {func(*Input) {}, ""},
		"no rows":          {func(in *Input) { in.Rows = nil }, ""},
		"logits":           {func(in *Input) { in.Logits = make([]float32, 6) }, ""},
		"all bags":         {func(in *Input) { in.Bags = math.MaxInt32 }, ""},
		"no annotators":    {func(in *Input) { in.Annotators = 0 }, "0 annotators"},
		"many annotators":  {func(in *Input) { in.Annotators = math.MaxInt32/2 + 1 }, "1073741824 annotators"},
		"a logit too many": {func(in *Input) { in.Logits = make([]float32, 7) }, "7 logits for 2 samples × 3 classes"},
		"a row too many":   {func(in *Input) { in.Logits = make([]float32, 9) }, "9 logits for 2 samples × 3 classes"},
		"endless logit": {func(in *Input) { in.Logits = []float32{0, 0, 0, 0, inf, 0} },
			"sample 2, class 2: logit -Inf"},
		"bag -1":                 {func(in *Input) { in.Rows[1].Bag = -1 }, "row 2: sample -1 of 2"},
		"bag 2":                  {func(in *Input) { in.Rows[1].Bag = 2 }, "row 2: sample 2 of 2"},
		"annotator -1":           {func(in *Input) { in.Rows[1].Annotator = -1 }, "row 2: sample 1 of 2, annotator -1 of 2"},
		"annotator 2":            {func(in *Input) { in.Rows[1].Annotator = 2 }, "row 2: sample 1 of 2, annotator 2 of 2"},
		"class -1":               {func(in *Input) { in.Rows[0].Given = []int32{-1} }, "row 1: classes [-1]"},
		"class 3":                {func(in *Input) { in.Rows[0].Given = []int32{3} }, "row 1: classes [3]"},
		"a class twice":          {func(in *Input) { in.Rows[0].Given = []int32{1, 1} }, "row 1: classes [1 1]"},
		"classes that descend":   {func(in *Input) { in.Rows[0].Unknown = []int32{2, 1} }, "row 1: classes [2 1]"},
		"asked in disorder":      {func(in *Input) { in.Rows[1].Asked = []int32{1, 0} }, "row 2: classes [1 0]"},
		"given and unknown":      {func(in *Input) { in.Rows[0].Unknown = []int32{2} }, "row 1: class 2 is given"},
		"given and not asked":    {func(in *Input) { in.Rows[1].Asked = []int32{0, 2} }, "row 2: class 1 is given"},
		"asked about nothing":    {func(in *Input) { in.Rows[1].Asked = []int32{} }, "row 2: class 1 is given"},
		"one bag twice":          {func(in *Input) { in.Rows = append(in.Rows, bob) }, "rows 2 and 3 have the same annotator"},
		"one bag, by two":        {func(in *Input) { in.Rows[1].Bag = 0 }, ""},
		"one annotator, of two":  {func(in *Input) { in.Rows[1].Annotator = 0 }, ""},
		"bag and annotator swap": {func(in *Input) { in.Rows[0].Bag, in.Rows[1].Annotator = 1, 0 }, "rows 1 and 2"},
	} {
		in := good()
		c.change(&in)
		err := in.check()
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) ||
			!errors.Is(err, ErrInput)) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

func TestValidate_OfOptions(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o *Options)
		good   bool
	}{
		"as they are":       {func(*Options) {}, true},
		"one iteration":     {func(o *Options) { o.Iterations = 1 }, true},
		"no iteration":      {func(o *Options) { o.Iterations = 0 }, false},
		"tolerance 0":       {func(o *Options) { o.Tolerance = 0 }, false},
		"tolerance 1":       {func(o *Options) { o.Tolerance = 1 }, false},
		"tolerance NaN":     {func(o *Options) { o.Tolerance = math.NaN() }, false},
		"confidence 0":      {func(o *Options) { o.Confidence = 0 }, false},
		"confidence 1":      {func(o *Options) { o.Confidence = 1 }, false},
		"confidence .99":    {func(o *Options) { o.Confidence = .99 }, true},
		"strengths":         {func(o *Options) { o.Strength01, o.Strength10 = 1, 2 }, true},
		"negative strength": {func(o *Options) { o.Strength10 = -1 }, false},
		"endless strength":  {func(o *Options) { o.Strength01 = math.Inf(1) }, false},
		"strength NaN":      {func(o *Options) { o.Strength01 = math.NaN() }, false},
	} {
		o := DefaultOptions()
		if c.change(&o); (o.Validate() == nil) != c.good {
			t.Errorf("%s: %v", name, o.Validate())
		}
	}
}
