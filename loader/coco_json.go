package loader

// cocoImage and cocoCaption are elements of the arrays "images" and "annotations". Pointers tell a
// missing field from a zero.
type cocoImage struct {
	ID       *int64  `json:"id"`
	FileName *string `json:"file_name"`
	Width    int     `json:"width"`
	Height   int     `json:"height"`
	offset   int64
}

type cocoCaption struct {
	ID      *int64  `json:"id"`
	ImageID *int64  `json:"image_id"`
	Caption *string `json:"caption"`
	offset  int64
}

// cocoFile is the part of the file that captions need, element by element as it is written.
type cocoFile struct {
	name     string
	images   []cocoImage
	captions []cocoCaption
}

// format reads into the file.
func (f *cocoFile) format() annotationFormat {
	return annotationFormat{"a caption file of COCO", []annotationArray{
		elements("images", func(e cocoImage, offset int64) {
			e.offset = offset
			f.images = append(f.images, e)
		}),
		elements("annotations", func(e cocoCaption, offset int64) {
			e.offset = offset
			f.captions = append(f.captions, e)
		}),
	}}
}

// place names an element for an error message.
func (f *cocoFile) place(array string, index int, offset int64) string {
	return annotationPlace(f.name, array, index, offset)
}
