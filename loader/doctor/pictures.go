package doctor

import (
	"cmp"
	"fmt"
	"slices"

	"nmn/loader/alike"
	"nmn/loader/picture"
)

// Pictures describes the pictures of a split. Sizes count only decoded pictures.
type Pictures struct {
	Files      int            `json:"files"` // frames, where bags are videos
	Decoded    int            `json:"decoded"`
	Broken     int            `json:"broken"`
	BrokenBags int            `json:"broken_samples"`
	Types      map[string]int `json:"types"`  // empty where pictures are painted rather than read
	Bytes      int64          `json:"bytes"`  // size of all files
	Turned     int            `json:"turned"` // stored turned or mirrored (Exif orientation), of all files
	Copies
	// Near counts bags that look like an earlier one of the split but have other bytes.
	Near     int          `json:"near_duplicates"`
	Smallest *PictureSize `json:"smallest,omitempty"`
	Median   *PictureSize `json:"median,omitempty"` // each side by itself
	Largest  *PictureSize `json:"largest,omitempty"`
	Errors   []string     `json:"errors"` // errors of the first broken pictures
}

// PictureSize is in pixels. ID is the bag, empty if the size does not belong to a single picture.
type PictureSize struct {
	Width  int    `json:"width"`
	Height int    `json:"height"`
	ID     string `json:"id,omitempty"`
}

// listedErrors is how many broken pictures a report lists at most.
const listedErrors = 1000

// look is what stays of a picture.
type look struct {
	content       [16]byte // hash of its file, or of its pixels if it has no file
	sign          alike.Signature
	width, height int32 // 0 if it was not decoded
	bag, frame    int32
	split         uint8
	format        uint8 // index in formats
	state         state
}

type state uint8

const (
	isRead state = 1 << iota // its content is known
	isBroken
	isSigned // its sign is known
	isTurned // its file states an orientation other than 1
)

// formats are the types of files; the first stands for pictures without one.
var formats = slices.Concat([]string{""}, picture.Formats(), picture.ForeignFormats(), []string{"other"})

// measurePictures sums up the pictures of a split.
func measurePictures(looks []look, ids []string) *Pictures {
	p := &Pictures{Files: len(looks), Types: map[string]int{}, Errors: []string{}}
	var widths, heights []int32
	var smallest, largest *look
	broken := int32(-1)
	for i := range looks {
		l := &looks[i]
		if name := formats[l.format]; name != "" {
			p.Types[name]++
		}
		if l.state&isTurned != 0 {
			p.Turned++
		}
		if l.state&isBroken != 0 {
			p.Broken++
			if l.bag != broken {
				broken, p.BrokenBags = l.bag, p.BrokenBags+1
			}
			continue
		}
		if l.width == 0 {
			continue
		}
		p.Decoded++
		widths, heights = append(widths, l.width), append(heights, l.height)
		if smallest == nil || l.area() < smallest.area() {
			smallest = l
		}
		if largest == nil || l.area() > largest.area() {
			largest = l
		}
	}
	if smallest != nil {
		p.Smallest, p.Largest = smallest.size(ids), largest.size(ids)
		p.Median = &PictureSize{Width: median(widths), Height: median(heights)}
	}
	return p
}

func (l *look) area() int64 { return int64(l.width) * int64(l.height) }

func (l *look) size(ids []string) *PictureSize {
	return &PictureSize{Width: int(l.width), Height: int(l.height), ID: ids[l.bag]}
}

// median sorts its values, and is the upper of the two in the middle of an even number.
func median(values []int32) int {
	slices.Sort(values)
	return int(values[len(values)/2])
}

func (r *Report) pictureFindings(s *SplitReport, o *Options) {
	p := s.Pictures
	if p.Broken > 0 {
		what := fmt.Sprintf("unusable %v of %s: %d of %d", r.Files, s.Name, p.Broken, p.Files)
		r.Findings = append(r.Findings, leftOut("broken-pictures", what, p.BrokenBags, o.MaxBadSamples,
			" "+r.Samples.String(), repair, "", p.Errors))
	}
	if p.Turned > 0 {
		done, cure := "are taken as they are stored", "`data.orientation` apply turns them upright"
		if o.Orientation == picture.OrientationApply {
			done, cure = "are turned upright", "nothing, unless they are to be taken as they are stored: "+
				"`data.orientation` ignore"
		}
		r.add(Note, "turned-pictures", fmt.Sprintf("%v of %s stored turned or mirrored (Exif orientation): %d of %d; they %s",
			r.Files, s.Name, p.Turned, p.Files, done), cure)
	}
	if n := p.Files - p.Decoded - p.Broken; n > 0 {
		r.add(Note, "sampled", fmt.Sprintf("%v of %s not decoded: %d of %d", r.Files, s.Name, n, p.Files),
			"leave out `doctor.sample` to decode all")
	}
}

// copies are the pictures with one content.
type copies []look

// eachCopies calls back for each content that several bags have. It sorts the looks.
func eachCopies(looks []look, visit func(copies)) {
	slices.SortFunc(looks, func(a, b look) int {
		return cmp.Or(slices.Compare(a.content[:], b.content[:]), cmp.Compare(a.split, b.split),
			cmp.Compare(a.bag, b.bag), cmp.Compare(a.frame, b.frame))
	})
	for len(looks) > 0 {
		n := 1
		for n < len(looks) && looks[n].content == looks[0].content {
			n++
		}
		if first, last := looks[0], looks[n-1]; looks[0].state&isRead != 0 &&
			(first.split != last.split || first.bag != last.bag) {
			visit(copies(looks[:n]))
		}
		looks = looks[n:]
	}
}

// count is how many of a split there are, each bag once.
func (c copies) count(split int) int {
	n, bag := 0, int32(-1)
	for _, l := range c {
		if int(l.split) == split && l.bag != bag {
			n, bag = n+1, l.bag
		}
	}
	return n
}

// of returns the first copy in a split.
func (c copies) of(split int) (look, bool) {
	at := slices.IndexFunc(c, func(l look) bool { return int(l.split) == split })
	if at < 0 {
		return look{}, false
	}
	return c[at], true
}
