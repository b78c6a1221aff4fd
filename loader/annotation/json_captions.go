package annotation

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"nmn/loader"
)

// MSRVTTCaptions is the number of sentences that MSR-VTT has for every clip.
const MSRVTTCaptions = 20

// jsonNames are the names that COCO or MSR-VTT gives to its arrays and their fields.
type jsonNames struct {
	title                  string // of a file, for messages
	bags, bag              string // the array of bags, and the field that identifies one
	captions, caption      string // the array of captions, and what messages call one of them
	captionID, captionsBag string // fields of a caption: its identifier, and that of its bag
}

var (
	cocoNames = jsonNames{title: "a caption file of COCO", bags: "images", bag: "id", captions: "annotations",
		caption: "annotation", captionID: "id", captionsBag: "image_id"}
	msrvttNames = jsonNames{title: "an annotation file of MSR-VTT", bags: "videos", bag: "video_id",
		captions: "sentences", caption: "sentence", captionID: "sen_id", captionsBag: "video_id"}
)

// jsonCaptions collects the bags and captions of a file of COCO or MSR-VTT. K is the type of the identifiers of bags.
type jsonCaptions[K cmp.Ordered] struct {
	names    *jsonNames
	bags     []jsonBag[K]
	at       map[K]int // positions of bags
	captions []jsonCaption[K]
	seen     map[int64]int // positions of captions
}

type jsonBag[K cmp.Ordered] struct {
	id          K
	file, split string // each is empty in one of the formats
}

type jsonCaption[K cmp.Ordered] struct {
	id     int64
	bag    K
	text   string
	offset int64
}

func newJSONCaptions[K cmp.Ordered](names *jsonNames) *jsonCaptions[K] {
	return &jsonCaptions[K]{names: names, at: map[K]int{}, seen: map[int64]int{}}
}

func (c *jsonCaptions[K]) addBag(b jsonBag[K]) error {
	if first, ok := c.at[b.id]; ok {
		return fmt.Errorf("%s %s repeats %s[%d]", c.names.bag, shownKey(b.id), c.names.bags, first)
	}
	c.at[b.id] = len(c.bags)
	c.bags = append(c.bags, b)
	return nil
}

// addCaption takes the fields of a caption. Pointers distinguish a missing field from a zero.
func (c *jsonCaptions[K]) addCaption(id *int64, bag *K, text *string, offset int64) error {
	switch {
	case id == nil:
		return fmt.Errorf("%q is missing", c.names.captionID)
	case bag == nil:
		return fmt.Errorf("%s %d: %q is missing", c.names.caption, *id, c.names.captionsBag)
	case text == nil:
		return fmt.Errorf("%s %d: %q is missing", c.names.caption, *id, "caption")
	}
	if first, ok := c.seen[*id]; ok {
		return fmt.Errorf("%s %d repeats %s[%d]", c.names.captionID, *id, c.names.captions, first)
	}
	c.seen[*id] = len(c.captions)
	c.captions = append(c.captions, jsonCaption[K]{id: *id, bag: *bag, text: *text, offset: offset})
	return nil
}

// join hangs the captions on their bags. Captions are in the order of their identifiers, and so are images. Clips are
// in the order of the file.
func (c *jsonCaptions[K]) join(name string, form Form) (*Bags, error) {
	if len(c.bags) == 0 {
		return nil, fmt.Errorf("captions %q: there are no %s", name, c.names.bags)
	}
	for i, caption := range c.captions {
		if _, ok := c.at[caption.bag]; !ok {
			return nil, fmt.Errorf("%s: %s %s is none of the %s", elementPlace(captionFile, name, c.names.captions, i,
				caption.offset), c.names.captionsBag, shownKey(caption.bag), c.names.bags)
		}
	}
	b := &Bags{Name: name, Form: form, Captions: make([][]BagCaption, len(c.bags))}
	if form == FormCOCO {
		slices.SortFunc(c.bags, func(x, y jsonBag[K]) int { return cmp.Compare(x.id, y.id) })
	}
	for i, bag := range c.bags {
		c.at[bag.id] = i
		b.IDs, b.Files = append(b.IDs, fmt.Sprint(bag.id)), append(b.Files, bag.file)
		if form == FormMSRVTT {
			b.Splits = append(b.Splits, bag.split)
		}
	}
	blank, bare := 0, 0
	slices.SortFunc(c.captions, func(x, y jsonCaption[K]) int { return cmp.Compare(x.id, y.id) })
	for _, caption := range c.captions {
		if strings.TrimSpace(caption.text) == "" {
			blank++
		}
		of := &b.Captions[c.at[caption.bag]]
		*of = append(*of, BagCaption{ID: strconv.FormatInt(caption.id, 10), Text: caption.text})
	}
	for _, captions := range b.Captions {
		if len(captions) == 0 {
			bare++
		}
	}
	var warnings []string
	if blank > 0 {
		warnings = append(warnings, fmt.Sprintf("%d empty captions give no labels", blank))
	}
	if bare > 0 && form == FormCOCO { // clips without captions are reported when a set is made
		warnings = append(warnings, fmt.Sprintf("%d images have no caption and no labels", bare))
	}
	b.Warnings = strings.Join(warnings, "; ")
	return b, nil
}

// shownKey is an identifier for messages: a number as it is, a name in quotes.
func shownKey(key any) string {
	if name, ok := key.(string); ok {
		return strconv.Quote(loader.Excerpt(name))
	}
	return fmt.Sprint(key)
}

// cocoImage is an element of the array "images". Pointers separate a missing field from a zero.
type cocoImage struct {
	ID       *int64  `json:"id"`
	FileName *string `json:"file_name"`
	Width    int     `json:"width"`
	Height   int     `json:"height"`
}

func (e *cocoImage) check() error {
	switch {
	case e.ID == nil:
		return fmt.Errorf("\"id\" is missing")
	case e.FileName == nil || *e.FileName == "":
		return fmt.Errorf("image %d: \"file_name\" is missing", *e.ID)
	case strings.ContainsRune(*e.FileName, 0) || !filepath.IsLocal(filepath.FromSlash(*e.FileName)):
		return fmt.Errorf("image %d: file_name %q is not a path inside the folder of images", *e.ID, *e.FileName)
	case e.Width < 0 || e.Height < 0:
		return fmt.Errorf("image %d: size %d×%d", *e.ID, e.Width, e.Height)
	}
	return nil
}

func cocoFormat(c *jsonCaptions[int64]) fileFormat {
	return fileFormat{c.names.title, []fileArray{
		elements(c.names.bags, func(e cocoImage, _ int64) error {
			if err := e.check(); err != nil {
				return err
			}
			return c.addBag(jsonBag[int64]{id: *e.ID, file: *e.FileName})
		}),
		elements(c.names.captions, func(e struct {
			ID      *int64  `json:"id"`
			ImageID *int64  `json:"image_id"`
			Caption *string `json:"caption"`
		}, offset int64) error {
			return c.addCaption(e.ID, e.ImageID, e.Caption, offset)
		}),
	}}
}

// msrvttVideo is an element of the array "videos".
type msrvttVideo struct {
	ID    *string `json:"video_id"`
	Split *string `json:"split"`
}

func (e *msrvttVideo) check() error {
	switch {
	case e.ID == nil || *e.ID == "":
		return fmt.Errorf("\"video_id\" is missing")
	case e.Split == nil:
		return fmt.Errorf("video %q: \"split\" is missing", loader.Excerpt(*e.ID))
	case *e.Split != loader.TrainSplit && *e.Split != loader.ValidationSplit && *e.Split != loader.TestSplit:
		return fmt.Errorf("video %q: split is %q, want %s, %s or %s", loader.Excerpt(*e.ID), loader.Excerpt(*e.Split),
			loader.TrainSplit, loader.ValidationSplit, loader.TestSplit)
	}
	return nil
}

func msrvttFormat(c *jsonCaptions[string]) fileFormat {
	return fileFormat{c.names.title, []fileArray{
		elements(c.names.bags, func(e msrvttVideo, _ int64) error {
			if err := e.check(); err != nil {
				return err
			}
			return c.addBag(jsonBag[string]{id: *e.ID, split: *e.Split})
		}),
		elements(c.names.captions, func(e struct {
			ID      *int64  `json:"sen_id"`
			VideoID *string `json:"video_id"`
			Caption *string `json:"caption"`
		}, offset int64) error {
			return c.addCaption(e.ID, e.VideoID, e.Caption, offset)
		}),
	}}
}
