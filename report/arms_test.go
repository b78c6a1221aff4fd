package report

// titles are the titles of arms in the program, in the order of tables.
var titles = []struct{ arm, title string }{
	{Stage1, "stage 1"}, {Baseline, "baseline"}, {"baseline-early", "baseline, in time"}, {nmnFI, "NMN-FI"},
	{nmnFD, "NMN-FD"}, {"held-rates", "held rates"}, {"soft-labels", "soft labels"}, {"forward", "forward"},
	{"forward-true", "forward, true T"}, {"asl", "ASL"},
	{"ll-r", "LL-R"}, {"ll-ct", "LL-Ct"}, {"pruned", "pruned"}, {"clean", "clean labels"},
}

// titled gives a run the title and the place of its arm.
func titled(r Run) Run {
	r.ArmPlace = len(titles)
	for i, t := range titles {
		if t.arm == r.Arm {
			r.ArmTitle, r.ArmPlace = t.title, i
		}
	}
	return r
}

// allTitled gives them to all runs.
func allTitled(runs ...Run) []Run {
	out := make([]Run, len(runs))
	for i, r := range runs {
		out[i] = titled(r)
	}
	return out
}
