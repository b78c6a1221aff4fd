package vit

import (
	"errors"

	"nmn/format/safetensors"
	"nmn/model/param"
)

// Errors about files.
var (
	// ErrOther is wrapped by Recognise if a file holds no vision transformer at all.
	ErrOther = errors.New("not the weights of a vision transformer")
	// ErrWeights is wrapped by errors about tensors of a vision transformer that are missing, too many or of another
	// shape, and about architectures that are not computed here.
	ErrWeights = errors.New("weights that this vision transformer does not take")
)

// Source are the named tensors of a file. A *weights.File is one.
type Source = param.Source

// Layout is whose names the tensors of a file have.
type Layout string

// The layouts.
const (
	Torchvision Layout = "torchvision"
	Timm        Layout = "timm"
	TimmDINOv2  Layout = "timm, DINOv2"
	TimmCLIP    Layout = "timm, CLIP"
	DINOv2      Layout = "DINOv2"
	HFDINOv2    Layout = "Hugging Face, DINOv2"
	HFCLIP      Layout = "Hugging Face, CLIP"
	OpenAI      Layout = "OpenAI, CLIP"
)

// Mapping maps the tensors of a file to parameters.
type Mapping struct {
	Taken  []Match  `json:"taken"`
	Unused []string `json:"unused"` // tensors that features need nothing of
}

// Match is a parameter and the tensors of a file that make it: one, or queries, keys and values.
type Match struct {
	Param   string            `json:"param"` // nmn's name: blocks.3.qkv.weight
	Tensors []string          `json:"tensors"`
	DType   safetensors.DType `json:"dtype"`
	Shape   []int             `json:"shape"` // of each in the file

	transposed bool // in the file
}
