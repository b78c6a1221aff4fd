// Package tensor holds the parts that all devices share: handles to arrays in device memory, their arena,
// shape errors, and the worker pool of the CPU.
//
// Shape letters, used in every contract of the kernels:
//
//	N  bags (an image or a video is a bag)
//	T  frames of all bags of a batch; T = N for images
//	H W  rows and columns of a feature map; h w where it is small
//	C  input channels, K output channels or classes, D features of pool5
//	R S  rows and columns of a filter
//	L  length of a flat parameter
//	V  words of a caption vocabulary
//
// Feature maps are NHWC, filters KRSC, row-major without gaps.
package tensor
