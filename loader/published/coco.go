package published

import (
	"context"
	"fmt"
	"path"
	"strings"

	"nmn/loader/annotation"
	"nmn/loader/doctor"
	"nmn/text"
)

// COCOSize is how much of COCO 2014 there should be.
type COCOSize struct {
	Train, Val  int // pictures
	ValCaptions int // 0 if they are not counted
	PerPicture  int // captions of every picture at least
}

// COCOCounts returns the numbers of the publication: the paper's 82,783 and 40,504 pictures. Captions of the
// training half are checked for five per picture, not for a total.
func COCOCounts() COCOSize {
	return COCOSize{Train: 82783, Val: 40504, ValCaptions: 202654, PerPicture: 5}
}

const cocoPage = "cocodataset.org, page Download"

// cocoArchive is the archive of the annotations. Its SHA-256 is the one that other users of it check. The
// SHA-256 of the training captions in it comes from two independent publications. For the validation captions
// there is no second source.
const (
	cocoArchive       = "annotations_trainval2014.zip"
	cocoArchiveSHA256 = "031296bbc80c45a1d1f76bf9a90ead27e94e99ec629208449507a4917a3bf009"
	cocoTrainSHA256   = "dd8c9636dc11740f956e36728866ea0c4ebe4988dcbdc5e712b7c2267f152d12"
)

// half is the training or the validation half of COCO 2014.
type half struct {
	name  string // "train2014" or "val2014"
	other string
}

var (
	trainHalf = half{"train2014", "val2014"}
	valHalf   = half{"val2014", "train2014"}
)

func (h half) captions() string { return "captions_" + h.name + ".json" }
func (h half) prefix() string   { return "COCO_" + h.name + "_" }

// COCO checks a folder of COCO 2014: annotations/captions_train2014.json and captions_val2014.json (plain or
// .gz, or next to the pictures' folders), train2014 and val2014. Problems of the data are findings. Errors
// have other causes, such as an interruption.
func COCO(ctx context.Context, dir string, want COCOSize) (*Folder, error) {
	f, ok := open("coco", dir, "annotations, train2014 and val2014")
	if !ok || f.elsewhere("COCO", holdsCOCO, []string{"annotations", trainHalf.name, valHalf.name},
		fmt.Sprintf("holds none of annotations/%s, annotations/%s, train2014 and val2014", trainHalf.captions(),
			valHalf.captions()), "give the folder that COCO 2014 was unpacked into; available at "+cocoPage) {
		return f, nil
	}
	ids := map[string]bool{}
	for _, h := range []half{trainHalf, valHalf} {
		captions, err := f.cocoCaptions(ctx, h, want)
		if err != nil {
			return nil, err
		}
		images, err := f.cocoPictures(ctx, h, captions)
		if err != nil {
			return nil, err
		}
		if h == trainHalf {
			f.TrainImages = images
		} else {
			f.ValImages = images
		}
		if captions != nil {
			f.sharedPictures(captions, ids)
		}
	}
	if err := f.vocabulary(ctx); err != nil {
		return nil, err
	}
	if archive := f.first(false, cocoArchive, "annotations/"+cocoArchive); archive != "" {
		if err := f.digest(ctx, archive, cocoArchiveSHA256); err != nil {
			return nil, err
		}
	}
	doctor.Sort(f.Findings)
	return f, nil
}

// Names of the vocabulary of Fang et al., and its SHA-256 as it was published.
var wordFiles = []string{"vocab_words.txt", "vocab-fang2015/vocab_words.txt", "annotations/vocab_words.txt"}

const wordsSHA256 = "ae48bbad732a6dd655b49fe94bb2555cc15819df0afd9b91e1646a68b0268cc5"

// vocabulary looks for the words that the paper's nets learn.
func (f *Folder) vocabulary(ctx context.Context) error {
	if f.Words = f.first(false, wordFiles...); f.Words == "" {
		f.add(doctor.Warning, "no-vocabulary", wordFiles[0]+" is missing: the 1,000 words of Fang et al. (2015), which the "+
			"paper's nets learn", "put it there; get it from the project visual-concepts of its authors")
		return nil
	}
	return f.digest(ctx, f.Words, wordsSHA256)
}

// holdsCOCO reports whether a folder looks like a folder of COCO.
func holdsCOCO(dir string) bool {
	f := Folder{Dir: dir}
	return f.first(true, trainHalf.name, valHalf.name) != "" ||
		f.first(false, captionFiles(trainHalf)...) != "" || f.first(false, captionFiles(valHalf)...) != ""
}

func captionFiles(h half) []string {
	var all []string
	for _, folder := range []string{"annotations/", ""} {
		all = append(all, folder+h.captions(), folder+h.captions()+".gz")
	}
	return all
}

// cocoCaptions reads the captions of a half; nil if they are unusable.
func (f *Folder) cocoCaptions(ctx context.Context, h half, want COCOSize) (*annotation.Bags, error) {
	file := f.first(false, captionFiles(h)...)
	if file == "" {
		cure := fmt.Sprintf("unpack it from %s, available at %s", cocoArchive, cocoPage)
		if f.first(false, cocoArchive, "annotations/"+cocoArchive) != "" {
			cure = "unpack " + cocoArchive + ", which is there"
		}
		f.add(doctor.Error, "missing-annotations", "annotations/"+h.captions()+" is missing", cure)
		return nil, nil
	}
	known := ""
	if h == trainHalf && want == COCOCounts() && path.Ext(file) == ".json" {
		known = cocoTrainSHA256
	}
	captions, err := f.read(ctx, file, known, annotation.FormCOCO)
	if captions == nil {
		return nil, err
	}
	pictures, total := want.Train, 0
	if h == trainHalf {
		f.TrainCaptions = file
	} else {
		f.ValCaptions = file
		pictures, total = want.Val, want.ValCaptions
	}
	f.cocoCounts(h, captions, pictures, total, want.PerPicture)
	return captions, nil
}

// cocoCounts compares a file of captions with the expected counts.
func (f *Folder) cocoCounts(h half, c *annotation.Bags, pictures, total, perPicture int) {
	other, captions := 0, 0
	var few []string
	for i, file := range c.Files {
		captions += len(c.Captions[i])
		if strings.HasPrefix(path.Base(file), half{name: h.other}.prefix()) {
			other++
		}
		if len(c.Captions[i]) < perPicture {
			few = append(few, file)
		}
	}
	rightPictures := f.count("pictures in the captions of "+h.name, len(c.IDs), pictures)
	rightCaptions := f.count("captions of "+h.name, captions, total)
	switch {
	case other > 0:
		f.add(doctor.Error, "wrong-half",
			fmt.Sprintf("%s describes %s of %s", h.captions(), text.Plural("pictures").Count(other), h.other),
			"put the file of that name from "+cocoArchive+" there")
	case !rightPictures:
		f.add(doctor.Error, "annotation-counts", fmt.Sprintf("%s describes %d pictures, but %d were published", h.captions(),
			len(c.IDs), pictures),
			"put the file of that name from "+cocoArchive+" there: this one has another year, a part, or is cut short")
	case !rightCaptions:
		f.add(doctor.Warning, "annotation-counts", fmt.Sprintf("%s has %d captions, and %d were published", h.captions(),
			captions, total), "compare it with the file of that name in "+cocoArchive)
	}
	if other == 0 {
		f.list(doctor.Error, "few-captions", fmt.Sprintf("pictures of %s with fewer than %d captions", h.captions(),
			perPicture), "put the file of that name from "+cocoArchive+" there", few)
	}
}

// sharedPictures finds pictures that occur in both halves.
func (f *Folder) sharedPictures(c *annotation.Bags, seen map[string]bool) {
	var shared []string
	for _, id := range c.IDs {
		if seen[id] {
			shared = append(shared, id)
		}
		seen[id] = true
	}
	f.list(doctor.Error, "shared-pictures", "pictures in both files of captions",
		"put both files from "+cocoArchive+" there: no test picture may be learned", shared)
}

// cocoPictures looks for the pictures of a half, and returns their folder.
func (f *Folder) cocoPictures(ctx context.Context, h half, captions *annotation.Bags) (string, error) {
	from := fmt.Sprintf("unpack %s.zip, available at %s", h.name, cocoPage)
	dir := f.first(true, h.name, "images/"+h.name)
	if dir == "" {
		f.add(doctor.Error, "missing-pictures", "the folder "+h.name+" is missing", from)
		return "", nil
	}
	names, err := f.names(ctx, dir, "pictures")
	if names == nil {
		return "", err
	}
	ours, others := hasPrefix(names, h.prefix()), hasPrefix(names, half{name: h.other}.prefix())
	f.count("files in "+h.name, ours, 0)
	switch _, inner := names[h.name]; {
	case ours == 0 && others > 0:
		f.add(doctor.Error, "wrong-half", fmt.Sprintf("%s holds %s of %s", f.below(dir),
			text.Plural("pictures").Count(others), h.other), "put the pictures of "+h.name+" there: "+from)
		return dir, nil
	case ours == 0 && inner:
		f.add(doctor.Error, "wrong-folder",
			fmt.Sprintf("the pictures are in %s/%s, one folder too deep", f.below(dir), h.name), "move them one folder up")
		return dir, nil
	}
	if captions != nil {
		f.present(wanted{noun: "pictures", place: "of " + h.name, weight: doctor.Error, cure: from,
			counts: "pictures of " + h.name + " that the captions name and that are there"}, captions.Files, names)
	}
	return dir, nil
}
