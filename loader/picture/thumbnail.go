package picture

// ThumbnailSize is the longer side of a thumbnail, in pixels. A smaller picture is enlarged to twice its size at most:
// JPEG stores colours at half the resolution, so that this keeps all of them. Pages enlarge it further.
const ThumbnailSize = 320

// thumbnailQuality is the quality of its JPEG: about 10 kB.
const thumbnailQuality = 78

// Thumbnail is a small picture as JPEG.
type Thumbnail struct {
	Width, Height int
	JPEG          []byte
}

// Shrinker makes thumbnails. It keeps its memory from one to the next, and is for one goroutine.
type Shrinker struct {
	resizer Resizer
	canvas  []uint8
}

// Shrink makes a thumbnail of a picture, whose pixels it overwrites.
func (s *Shrinker) Shrink(pic *Picture) (Thumbnail, error) {
	for min(pic.Width, pic.Height) > 1 && max(pic.Width, pic.Height) >= 2*ThumbnailSize {
		halve(pic)
	}
	if s.canvas == nil {
		s.canvas = make([]uint8, 3*ThumbnailSize*ThumbnailSize)
	}
	side := min(ThumbnailSize, 2*max(pic.Width, pic.Height))
	width, height, err := s.resizer.Place(s.canvas[:3*side*side], side, pic, FitLongest)
	if err != nil {
		return Thumbnail{}, err
	}
	data, err := encodeJPEG(s.canvas, side, width, height, thumbnailQuality)
	return Thumbnail{width, height, data}, err
}

// halve averages 2×2 pixels in place, because the resizer does not smooth when it shrinks.
func halve(p *Picture) {
	width, height := p.Width/2, p.Height/2
	for y := range height {
		for i := range 3 * width {
			above := 3*2*y*p.Width + i/3*6 + i%3
			below := above + 3*p.Width
			sum := int(p.Pix[above]) + int(p.Pix[above+3]) + int(p.Pix[below]) + int(p.Pix[below+3])
			p.Pix[3*y*width+i] = uint8((sum + 2) / 4)
		}
	}
	p.Width, p.Height, p.Pix = width, height, p.Pix[:3*width*height]
}
