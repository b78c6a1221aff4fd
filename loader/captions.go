package loader

import "fmt"

// CaptionFile is a file of captions of one of the formats that are known; the other is nil.
type CaptionFile struct {
	COCO   *COCOCaptions
	MSRVTT *MSRVTT
}

// ReadCaptionFile reads the captions of COCO or of MSR-VTT, whichever the file holds: see
// ReadCOCOCaptions and ReadMSRVTT.
func ReadCaptionFile(path string) (*CaptionFile, error) {
	r, err := openAnnotations(path)
	if err != nil {
		return nil, fmt.Errorf("captions: %w", err)
	}
	defer r.Close()
	coco, msrvtt := cocoFile{name: path}, msrvttFile{name: path}
	formats := []annotationFormat{coco.format(), msrvtt.format()}
	found, err := readAnnotations(path, r, formats...)
	if err != nil {
		return nil, err
	}
	if found == &formats[0] {
		captions, err := coco.captionsOf()
		return &CaptionFile{COCO: captions}, err
	}
	clips, err := msrvtt.clipsOf()
	return &CaptionFile{MSRVTT: clips}, err
}
