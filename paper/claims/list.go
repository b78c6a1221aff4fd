package claims

import (
	"slices"
	"strings"

	"nmn/eval"
	"nmn/recipe"
	"nmn/report"
	"nmn/text"
)

// claim is a statement as a list of comparisons. They depend on the data and the levels of the results alone.
type claim struct {
	id, text, where string
	beyond          bool
	data            []string
	// levels are those at which it is claimed. every says that it needs all of them; else those count that there are
	// results of.
	levels []float64
	every  bool
	pairs  []pair
}

// pair is a comparison at each level of a claim: left is to be better than right, in the same words.
type pair struct {
	left, right side
	words       string
	bound       float64 // stands in the place of the right side where left is to be within a fixed bound
}

type side struct{ arm, metric string }

var (
	pictures = []string{Scenes, COCO}
	videos   = []string{MovingScenes, MSRVTT}
	// everyLevel are the levels of the paper's Tables 1 and 2. For videos it has one level, the noise of the captions,
	// which it does not state.
	everyLevel = []float64{0, .2, .4, .6, .8}
)

const (
	baseline      = string(recipe.Baseline)
	fi            = string(recipe.FI)
	fd            = string(recipe.FD)
	em            = string(recipe.EM)
	heldRates     = string(recipe.HeldRates)
	captionFilter = string(recipe.CaptionFilter)
)

// against compares two arms in AP over all words.
func against(left, right string) pair { return measured(AP, left, right) }

func measured(metric, left, right string) pair {
	return pair{left: side{left, metric}, right: side{right, metric}, words: All}
}

// over compares two arms in AP over each of some parts of speech.
func over(left, right string, words ...text.POS) []pair {
	var all []pair
	for _, w := range words {
		p := against(left, right)
		p.words = w.String()
		all = append(all, p)
	}
	return all
}

// Bounds of what numbers of single and double precision may differ in where formulas are the same.
const (
	gradientBound   = 1e-5
	fixedPointBound = .02 // of rates that two ways of optimisation end at
)

// all returns all claims. The paper's claims come first.
func all() []claim { return slices.Concat(ofDetection(), ofVideos(), ofEM(), ofBeyond()) }

func ofDetection() []claim {
	const tables = "Tables 1 and 2, column All"
	return []claim{
		{id: "nmn-baseline", text: "NMN-FD is above the baseline, without MIL, at every level of noise.",
			where: tables + "; abstract: consistently improves the performance for different levels of label noise",
			data:  pictures, levels: everyLevel, every: true, pairs: []pair{against(fd, baseline)}},
		{id: "nmn-baseline-mil",
			text:  "The gains are complementary: NMN-FD is above the baseline with MIL too, at every level.",
			where: "Table 1, second part, and Table 2, column All-MIL",
			data:  pictures, levels: everyLevel, every: true, pairs: []pair{against(fd+MIL, baseline+MIL)}},
		{id: "fi-baseline", text: "NMN-FI is above the baseline, with and without MIL, up to 60 % of noise.",
			where: tables + " and All-MIL; section on incorrect labels",
			data:  pictures, levels: everyLevel[:4], every: true,
			pairs: []pair{against(fi, baseline), against(fi+MIL, baseline+MIL)}},
		{id: "fi-80", text: "At 80 % of noise NMN-FI is below the baseline: such a noise model has to see features.",
			where: "Table 2 at 80 %; section on incorrect labels",
			data:  pictures, levels: []float64{.8}, every: true,
			pairs: []pair{against(baseline, fi), against(baseline+MIL, fi+MIL)}},
		{id: "fd-fi", text: "A noise model that sees features is better than one that does not: NMN-FD is above NMN-FI.",
			where: tables + " and All-MIL; third contribution of the introduction",
			data:  pictures, levels: everyLevel, every: true,
			pairs: []pair{against(fd, fi), against(fd+MIL, fi+MIL)}},
		{id: "mil", text: "MIL is a gain at every level of noise: the baseline with MIL is above the baseline.",
			where: tables + " and All-MIL; section on incorrect labels",
			data:  pictures, levels: everyLevel, every: true, pairs: []pair{against(baseline+MIL, baseline)}},
		{id: "words", text: "NMN-FD gains on nouns and on adjectives.",
			where: "Table 1, columns NN and JJ; section on missing labels",
			data:  pictures, levels: []float64{0}, every: true,
			pairs: slices.Concat(over(fd, baseline, text.NN, text.JJ), over(fd+MIL, baseline+MIL, text.NN, text.JJ))},
		{id: "observed", text: "Under much noise the observed distribution p(z=1|I) is worse than the classifier p(y=1|I).",
			where: "section on incorrect labels, at 80 %: 21.98 % and with MIL 28.22 %",
			data:  pictures, levels: []float64{.8}, every: true, pairs: []pair{
				{left: side{fd, AP}, right: side{fd, APObserved}, words: All},
				{left: side{fd + MIL, AP}, right: side{fd + MIL, APObserved}, words: All}}},
	}
}

func ofVideos() []claim {
	var captions []pair
	for _, arm := range []string{fi + MIL, fd + MIL} {
		for _, m := range captionMetrics {
			captions = append(captions, measured(m, arm, baseline+MIL))
		}
	}
	return []claim{
		{id: "nmn-baseline-video",
			text:  "On videos NMN-FI and NMN-FD are above the baseline, as classifiers of frames and of videos.",
			where: "Table 3, column All", data: videos, levels: everyLevel,
			pairs: []pair{against(fi, baseline), against(fd, baseline), against(fi+MIL, baseline+MIL),
				against(fd+MIL, baseline+MIL)}},
		{id: "fd-fi-video",
			text:  "As classifiers of videos NMN-FD is above NMN-FI (for frames the paper's figures are the other way).",
			where: "Table 3, training level video", data: videos, levels: everyLevel, pairs: []pair{against(fd+MIL, fi+MIL)}},
		{id: "words-video",
			text:  "On videos NMN-FD gains on verbs, nouns and adjectives.",
			where: "Table 3, columns VB, NN and JJ; section on videos", data: videos, levels: everyLevel,
			pairs: slices.Concat(over(fd, baseline, text.VB, text.NN, text.JJ),
				over(fd+MIL, baseline+MIL, text.VB, text.NN, text.JJ))},
		{id: "captions",
			text:  "Captions are better on the concepts of nets that were trained with a noise model.",
			where: "Table 4, all four measures; section on captioning", data: videos, levels: everyLevel, pairs: captions},
	}
}

// ofEM returns the claims of the appendix, and of the section on training that refers to it.
func ofEM() []claim {
	return []claim{
		{id: "em-function",
			text: "EM and joint training optimise the same function: the classifier gets the same gradient, " +
				"p(y=1|I) - p(y=1|z,I), and one stationary point is one of the other.",
			where: "appendix, equations of both derivatives", data: []string{SmallProblem}, levels: []float64{0},
			pairs: []pair{
				{left: side{em, GradientGap}, bound: gradientBound, words: All},
				{left: side{em, FixedPointGap}, bound: fixedPointBound, words: All}}},
		{id: "em-epochs",
			text:  "Joint training converges earlier: after as many epochs it explains the noisy labels better.",
			where: "introduction, fourth contribution; section on training", data: pictures, levels: everyLevel,
			pairs: []pair{measured(NLL, fi, em)}},
		{id: "em-minimum",
			text:  "EM gets stuck in poorer minima: after as many epochs joint training classifies better.",
			where: "section on training", data: pictures, levels: everyLevel, pairs: []pair{against(fi, em)}},
	}
}

// ofBeyond are those that the paper does not make.
func ofBeyond() []claim {
	noisy := everyLevel[1:4] // of clean captions nothing is to be gained, and at 80 % nearly nothing can be found
	return []claim{
		{id: "rates-f1", beyond: true, data: pictures, levels: noisy, pairs: []pair{measured(OF1, heldRates, baseline)},
			text: "Rates that are estimated from the noisy labels alone, and held, give a better F1 than the baseline."},
		{id: "rates-brier", beyond: true, data: pictures, levels: noisy, pairs: []pair{measured(Brier, heldRates, fi)},
			text: "Estimated rates give better probabilities (Brier) than rates that are learned with the net."},
		{id: "witness-baseline", beyond: true, data: pictures, levels: noisy, pairs: []pair{against(captionFilter, baseline)},
			text: "Caption filter: a classifier trained on the captions that belong to their pictures is above the baseline."},
		{id: "witness-rates", beyond: true, data: pictures, levels: noisy, pairs: []pair{against(captionFilter, heldRates)},
			text: "The caption filter is better than estimated rates alone: it is above held rates."},
	}
}

var captionMetrics = []string{CIDEr, Bleu4, ROUGEL, METEOR}

// lessIsBetter reports whether a measure is an error.
func lessIsBetter(metric string) bool {
	return slices.Contains([]string{Brier, NLL, GradientGap, FixedPointGap}, metric)
}

// published is what the paper prints for an arm: on pictures at the level of noise, on videos at the only level it has.
func published(video bool, s side, missing float64, words string) eval.Number {
	arm, mil := strings.CutSuffix(s.arm, MIL)
	if slices.Contains(captionMetrics, s.metric) {
		return publishedCaptions(s)
	}
	if s.metric == APObserved && arm == fd && missing == .8 && words == All && !video {
		return report.PublishedObserved(mil)
	}
	if s.metric != AP {
		return eval.Undefined()
	}
	level := ""
	if video {
		level, missing = report.FrameLevel, 0
		if mil {
			level = report.VideoLevel
		}
	}
	for _, r := range report.PublishedRows() {
		if r.Arm == arm && r.MIL == mil && r.Level == level && r.Noise == missing && !r.Cited {
			return ofWords(r.AP, words)
		}
	}
	return eval.Undefined()
}

func ofWords(g eval.ByGroup[eval.Number], words string) eval.Number {
	for p, v := range g.Group {
		if text.POS(p).String() == words {
			return v
		}
	}
	return g.All
}

func publishedCaptions(s side) eval.Number {
	for _, r := range report.PublishedCaptioners() {
		if r.Arm+MIL == s.arm {
			return r.Scores[slices.Index(captionMetrics, s.metric)]
		}
	}
	return eval.Undefined()
}
