package recipe

import (
	"slices"
	"strings"
	"testing"

	"nmn/model"
)

func TestArms_AreComplete(t *testing.T) {
	trained := map[string]bool{}
	for _, a := range Arms() {
		if a.Title == "" || a.Meaning == "" || strings.Contains(a.Meaning, "%") || trained[string(a.Name)] {
			t.Errorf("arm %+v lacks a title or a meaning, or stands there twice", a)
		}
		for _, mil := range []bool{false, true} {
			arm, err := a.Name.ForTraining(mil)
			if err != nil || arm.MIL != mil || arm.Stage != a.Stage || arm.Noise != a.Noise {
				t.Errorf("%s: trained as %+v (%v)", a.Name, arm, err)
			}
			if first := arm.First(); arm.Stage == 2 && !trained[strings.TrimSuffix(first.Name, "-mil")] {
				t.Errorf("%s starts from %s, which was not trained before", arm.Name, first.Name)
			}
		}
		if a.Rival && a.Stage != 1 || a.Loss != "" && a.Noise != model.NoNoise {
			t.Errorf("%s: stage %d, loss %q, noise %q", a.Name, a.Stage, a.Loss, a.Noise)
		}
		trained[string(a.Name)] = true
	}
	for _, name := range PaperArms() {
		if !slices.Contains(Names(), name) {
			t.Errorf("the paper's arm %s is not in the table", name)
		}
	}
	if _, err := Name("gan").ForTraining(false); err == nil || !strings.Contains(err.Error(), "nmn-fd") {
		t.Errorf("error %v does not list the arms", err)
	}
}
