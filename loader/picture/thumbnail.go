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

// Thumbnail makes a thumbnail of a picture, whose pixels it overwrites.
func (p *Picture) Thumbnail() (Thumbnail, error) {
	for min(p.Width, p.Height) > 1 && max(p.Width, p.Height) >= 2*ThumbnailSize {
		halve(p)
	}
	side := min(ThumbnailSize, 2*max(p.Width, p.Height))
	canvas := make([]uint8, 3*side*side)
	width, height, err := new(Resizer).Place(canvas, side, p, FitLongest)
	if err != nil {
		return Thumbnail{}, err
	}
	data, err := encodeJPEG(canvas, side, width, height, thumbnailQuality)
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
