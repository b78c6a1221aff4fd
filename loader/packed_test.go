package loader

import (
	"fmt"
	"strings"
	"testing"
)

var animals = strings.Fields("ant bear cat dog eel fox goat hen ibis jay kite lynx mole newt owl pig quail rat seal " +
	"toad")

// pairs returns labels such as "ant,bear" mixed with single ones, as in files whose lists were not split.
func pairs(write func(a, b string) string, single func(a string) string) []string {
	labels := []string{}
	for i, a := range animals {
		labels = append(labels, single(a), write(a, animals[(i+3)%20]), write(a, animals[(i+7)%20]))
	}
	return labels
}

func TestFindPacked_SeesListsInOneString(t *testing.T) {
	itself := func(a string) string { return a }
	joined := func(separator string) func(a, b string) string {
		return func(a, b string) string { return a + separator + b }
	}
	for _, test := range []struct {
		labels          []string
		separator, cure string
	}{
		{pairs(joined(","), itself), "a comma", "(ant;dog)"},
		{pairs(joined(", "), itself), "a comma", "(ant;dog)"},
		{pairs(joined(" "), itself), "a blank", "(ant;dog)"},
		{pairs(joined(";"), itself), "a semicolon", "(ant;dog)"},
		{pairs(joined("|"), itself), "a vertical bar", "(ant;dog)"},
		{pairs(func(a, b string) string { return fmt.Sprintf("[%q,%q]", a, b) },
			func(a string) string { return fmt.Sprintf("[%q]", a) }), "brackets", "(ant;dog)"},
		{pairs(func(a, b string) string { return fmt.Sprintf("['%s', '%s']", a, b) },
			func(a string) string { return fmt.Sprintf("['%s']", a) }), "brackets", `["ant", "dog"]`},
	} {
		p, found := FindPacked(test.labels, true)
		if !found {
			t.Errorf("%s: %q are taken for names", test.separator, test.labels[:3])
			continue
		}
		if p.Separator != test.separator || p.Labels != 60 || p.Lists < 40 || p.Parts != 20 || p.Recurring != 20 {
			t.Errorf("%q: %+v", test.labels[:3], p)
		}
		if !strings.Contains(p.Cure(), test.cure) {
			t.Errorf("%s: the cure is %s", test.separator, p.Cure())
		}
	}
}

// No part stands alone, but the same ones begin a list and end one.
func TestFindPacked_SeesListsWithoutSingleLabels(t *testing.T) {
	if _, found := FindPacked([]string{"ant,bear", "bear,cat", "cat,ant"}, true); !found {
		t.Error("taken for names")
	}
}

func TestFindPacked_LeavesNamesAlone(t *testing.T) {
	coco := strings.Split("person,bicycle,car,traffic light,fire hydrant,stop sign,parking meter,bench,bird,cat,dog,"+
		"horse,bear,sports ball,baseball bat,baseball glove,tennis racket,wine glass,hot dog,potted plant,"+
		"dining table,teddy bear,hair drier,cell phone,ball,bat,glass,table,phone,plant,light,sign", ",")
	for what, labels := range map[string][]string{
		"names of two words":  coco,
		"people":              {"Smith, John", "Smith, Jane", "Jones, John", "Jones, Jane", "Brown, Ann"},
		"names with synonyms": {"tench, Tinca tinca", "goldfish, Carassius auratus", "great white shark, man-eater", "cock"},
		"traffic signs": {"speed limit 20", "speed limit 30", "speed limit 50", "end of speed limit 50", "no passing",
			"stop", "yield", "no entry", "general caution"},
		"species":           {"Canis lupus", "Canis aureus", "Felis catus", "Felis silvestris", "Ursus arctos"},
		"columns of arrays": {"class 1", "class 2", "class 3"},
		"single words":      animals,
		"nothing":           nil,
	} {
		if p, found := FindPacked(labels, true); found {
			t.Errorf("%s: taken for lists: %s", what, p)
		}
	}
	// Bags that have several labels show that these come apart already.
	if p, found := FindPacked([]string{"red", "car", "red car", "blue", "blue car", "red bus", "bus", "blue bus"},
		false); found {
		t.Errorf("labels of bags with several: %s", p)
	}
}
