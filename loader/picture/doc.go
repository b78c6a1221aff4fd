// Package picture turns picture files into input pixels for a network: it decodes the Formats into 8-bit RGB,
// turns pictures upright, and resizes them onto a square canvas.
//
//	var pic picture.Picture // keeps its memory from one file to the next
//	if err := picture.Decode(data, &pic); err != nil {
//		... // wraps picture.ErrCorrupt: one bad file, not a reason to stop
//	}
//	width, height, err := resizer.Place(canvas, 224, &pic, picture.FitLongest)
//
// Files are not trusted: sizes in their headers are checked against limits and against the length of the file
// before memory is allocated. JPEG files are decoded by package picture/jpeg, or by image/jpeg if it does not
// support their kind.
package picture
