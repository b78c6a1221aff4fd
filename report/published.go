package report

import (
	"nmn/eval"
	"nmn/text"
)

// Published is one row of the paper's tables of concept detection, in percent as printed. Columns
// that the paper does not give are undefined.
type Published struct {
	Table int     // 1, 2 or 3
	Noise float64 // share of replaced captions; 0 in Tables 1 and 3
	Arm   string
	MIL   bool
	Level string // Table 3: FrameLevel or VideoLevel
	Cited bool   // the row of Fang et al. that Table 1 repeats
	AP    eval.ByGroup[eval.Number]
}

// publishedSizes gives the number of words of each group: the "count" row of Tables 1 and 2, and of Table 3.
func publishedSizes(table int) eval.ByGroup[int] {
	if table == 3 {
		return inGroups(265, 620, 104, 9, 16, 33, 40, 1087)
	}
	return inGroups(176, 616, 119, 10, 11, 38, 30, 1000)
}

// inGroups takes the figures in the paper's order of columns, with the figure of all words last.
func inGroups[T any](figures ...T) eval.ByGroup[T] {
	g := eval.ByGroup[T]{Group: make([]T, text.POSCount), All: figures[len(paperOrder)]}
	for i, p := range paperOrder {
		g.Group[p] = figures[i]
	}
	return g
}

// PublishedObserved is the mean AP, in percent, of the observed-label prediction p(z=1|I) of
// VGG16-NMN-FD at 80 % noise (section on images with incorrect labels).
func PublishedObserved(mil bool) eval.Number {
	if mil {
		return 28.22
	}
	return 21.98
}

// observedNoise is the level at which the paper gives the observed prediction.
const observedNoise = 0.8

// PublishedRows are the figures of Tables 1, 2 and 3 in the order of print. Table 2 gives only the
// mean over all words for the arms with MIL (its column All-MIL).
func PublishedRows() []Published {
	rows := publishedTable1()
	rows = append(rows, publishedTable2()...)
	return append(rows, publishedTable3()...)
}

// printed takes the figures in the paper's order of columns: VB NN JJ DT PRP IN Others All.
func printed(vb, nn, jj, dt, prp, in, others, all eval.Number) eval.ByGroup[eval.Number] {
	return inGroups(vb, nn, jj, dt, prp, in, others, all)
}

func onlyAll(all eval.Number) eval.ByGroup[eval.Number] {
	u := eval.Undefined()
	return printed(u, u, u, u, u, u, u, all)
}

func publishedTable1() []Published {
	return []Published{
		{Table: 1, Arm: Stage1, AP: printed(18.01, 34.94, 20.33, 32.8, 19.2, 21.83, 16.16, 28.97)},
		{Table: 1, Arm: Baseline, AP: printed(18.1, 35.14, 20.45, 32.86, 19.32, 21.93, 16.31, 29.13)},
		{Table: 1, Arm: nmnFI, AP: printed(18.56, 35.91, 20.65, 32.88, 19.85, 21.94, 16.49, 29.72)},
		{Table: 1, Arm: nmnFD, AP: printed(18.78, 36.43, 21.14, 32.82, 19.62, 22.13, 16.45, 30.14)},
		{Table: 1, Arm: Stage1, MIL: true, AP: printed(20.73, 41.49, 23.93, 33.44, 20.5, 22.57, 16.28, 33.96)},
		{Table: 1, Arm: Stage1, MIL: true, Cited: true, AP: printed(20.7, 41.4, 24.9, 32.4, 19.1, 22.8, 16.3, 34.0)},
		{Table: 1, Arm: Baseline, MIL: true, AP: printed(20.87, 41.78, 24.08, 33.57, 20.65, 22.77, 16.47, 34.2)},
		{Table: 1, Arm: nmnFI, MIL: true, AP: printed(21.1, 42.17, 24.09, 33.36, 20.98, 22.52, 16.2, 34.47)},
		{Table: 1, Arm: nmnFD, MIL: true, AP: printed(21.59, 42.78, 24.71, 33.74, 21.35, 23.12, 16.62, 35.04)},
	}
}

func publishedTable2() []Published {
	var rows []Published
	add := func(noise float64, arm string, ap eval.ByGroup[eval.Number], allMIL eval.Number) {
		rows = append(rows,
			Published{Table: 2, Noise: noise, Arm: arm, AP: ap},
			Published{Table: 2, Noise: noise, Arm: arm, MIL: true, AP: onlyAll(allMIL)})
	}
	add(.2, Stage1, printed(17.21, 33.49, 19.47, 32.21, 18.78, 21.47, 15.67, 27.79), 33.19)
	add(.2, Baseline, printed(17.29, 33.63, 19.58, 32.27, 18.94, 21.56, 15.78, 27.92), 33.41)
	add(.2, nmnFI, printed(17.76, 34.57, 19.88, 32.49, 19.33, 21.55, 15.89, 28.62), 33.68)
	add(.2, nmnFD, printed(18.14, 35.26, 20.48, 32.34, 19.13, 21.82, 15.82, 29.19), 34.41)
	add(.4, Stage1, printed(16.33, 31.88, 18.36, 31.7, 18.02, 20.81, 15.16, 26.46), 32.21)
	add(.4, Baseline, printed(16.44, 32.08, 18.48, 31.75, 18.19, 20.90, 15.21, 26.62), 32.38)
	add(.4, nmnFI, printed(16.63, 32.88, 18.78, 32.09, 18.37, 20.85, 15.38, 27.19), 32.58)
	add(.4, nmnFD, printed(17.31, 33.94, 19.48, 31.96, 18.46, 21.2, 15.3, 28.06), 33.56)
	add(.6, Stage1, printed(15.05, 29.56, 16.97, 30.81, 17.32, 19.73, 14.06, 24.54), 30.33)
	add(.6, Baseline, printed(15.12, 29.73, 17.07, 30.91, 17.34, 19.82, 14.16, 24.68), 30.5)
	add(.6, nmnFI, printed(15.05, 29.91, 16.98, 31.29, 16.97, 19.74, 14.46, 24.78), 30.6)
	add(.6, nmnFD, printed(15.96, 31.66, 17.97, 31.19, 17.86, 20.23, 14.67, 26.17), 31.85)
	add(.8, Stage1, printed(12.58, 25.18, 13.61, 29.19, 14.29, 18.11, 12.40, 20.86), 26.95)
	add(.8, Baseline, printed(12.65, 25.3, 13.72, 29.30, 14.40, 18.22, 12.45, 20.96), 27.1)
	add(.8, nmnFI, printed(11.1, 23.39, 12.79, 29.61, 13.61, 17.59, 12.26, 19.37), 26.1)
	add(.8, nmnFD, printed(13.48, 27.19, 14.71, 29.44, 15.27, 18.62, 12.32, 22.41), 28.5)
	return rows
}

func publishedTable3() []Published {
	frame := func(arm string, ap eval.ByGroup[eval.Number]) Published {
		return Published{Table: 3, Arm: arm, Level: FrameLevel, AP: ap}
	}
	video := func(arm string, ap eval.ByGroup[eval.Number]) Published {
		return Published{Table: 3, Arm: arm, MIL: true, Level: VideoLevel, AP: ap}
	}
	return []Published{
		frame(Stage1, printed(28.82, 37.21, 25.79, 45.3, 31.87, 42.49, 28.63, 33.9)),
		frame(Baseline, printed(28.87, 37.48, 25.88, 45.24, 31.92, 42.52, 28.6, 34.08)),
		frame(nmnFI, printed(29.81, 38.34, 26.19, 45.32, 31.49, 43.04, 27.7, 34.8)),
		frame(nmnFD, printed(29.52, 37.87, 27.21, 43.51, 31.0, 41.7, 27.32, 34.49)),
		video(Stage1, printed(26.99, 33.48, 21.87, 41.68, 31.72, 41.23, 26.15, 30.79)),
		video(Baseline, printed(26.97, 33.48, 21.9, 41.7, 31.68, 41.25, 26.21, 30.8)),
		video(nmnFI, printed(28.0, 35.12, 22.59, 43.01, 31.68, 41.82, 26.6, 32.09)),
		video(nmnFD, printed(28.15, 36.36, 24.9, 42.83, 32.94, 41.44, 27.08, 33.08)),
	}
}
