package tensorboard

import (
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of the message Summary.Value.
const (
	valueTag      = protowire.Number(1)
	valueScalar   = protowire.Number(2)
	valueImage    = protowire.Number(4)
	valueTensor   = protowire.Number(8)
	valueMetadata = protowire.Number(9)
)

// value writes one value under a tag; a slash in it makes groups.
func (w *Writer) value(step int, tag string, content []byte) {
	b := appendMessage(nil, valueTag, []byte(tag))
	w.event(step, summary, appendMessage(nil, 1, append(b, content...)))
}

// Scalar is a point of a curve. Values that are not finite are left out, because TensorBoard cannot store them.
func (w *Writer) Scalar(tag string, step int, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	b := protowire.AppendTag(nil, valueScalar, protowire.Fixed32Type)
	w.value(step, tag, protowire.AppendFixed32(b, math.Float32bits(float32(v))))
}

// Image is a picture as PNG or JPEG, width × height pixels, RGB.
func (w *Writer) Image(tag string, step, width, height int, encoded []byte) {
	const rgb = 3
	b := appendInt(appendInt(appendInt(nil, 1, height), 2, width), 3, rgb)
	w.value(step, tag, appendMessage(nil, valueImage, appendMessage(b, 4, encoded)))
}

// Text is a text, for TensorBoard's plugin of that name, which reads it as Markdown: signs of that are escaped.
func (w *Writer) Text(tag string, step int, text string) {
	const str, oneValue = 7, 8 // DT_STRING, and the field of its values
	value := appendInt(nil, 1, str)
	value = appendMessage(value, 2, appendMessage(nil, 2, appendInt(nil, 1, 1))) // one dimension, with one element
	value = appendMessage(value, oneValue, []byte(strings.ToValidUTF8(plainMarkdown.Replace(text), "\ufffd")))
	metadata := appendMessage(nil, 1, appendMessage(nil, 1, []byte("text")))
	w.value(step, tag, appendMessage(appendMessage(nil, valueTensor, value), valueMetadata, metadata))
}

// plainMarkdown escapes the signs of Markdown and HTML.
var plainMarkdown = strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "`", "\\`", "<", "&lt;", ">", "&gt;",
	"[", "\\[", "]", "\\]", "#", "\\#", "|", "\\|")

// Curve counts predictions at thresholds that divide [0, 1] evenly, ascending: predictions at or above the
// threshold count as positive.
type Curve struct{ TruePositive, FalsePositive, TrueNegative, FalseNegative []float64 }

// NewCurve counts probabilities with their labels, 0 or 1, at n thresholds, at least 2.
func NewCurve(n int, probabilities []float32, labels []uint8) Curve {
	c := Curve{TruePositive: make([]float64, n), FalsePositive: make([]float64, n), TrueNegative: make([]float64, n),
		FalseNegative: make([]float64, n)}
	positives, negatives := make([]float64, n), make([]float64, n) // by the highest threshold that they reach
	for i, p := range probabilities {
		at := min(max(int(float64(p)*float64(n-1)), 0), n-1)
		if labels[i] != 0 {
			positives[at]++
		} else {
			negatives[at]++
		}
	}
	totalPositives, totalNegatives := 0., 0.
	for at := n - 1; at >= 0; at-- {
		totalPositives, totalNegatives = totalPositives+positives[at], totalNegatives+negatives[at]
		c.TruePositive[at], c.FalsePositive[at] = totalPositives, totalNegatives
	}
	for at := range n {
		c.FalseNegative[at], c.TrueNegative[at] = totalPositives-c.TruePositive[at], totalNegatives-c.FalsePositive[at]
	}
	return c
}

// ratio returns 0 if nothing is counted.
func ratio(a, b float64) float64 {
	if a+b == 0 {
		return 0
	}
	return a / (a + b)
}

// PRCurve is a precision-recall curve, for TensorBoard's plugin of that name.
func (w *Writer) PRCurve(tag string, step int, c Curve) {
	n := len(c.TruePositive)
	precision, recall := make([]float64, n), make([]float64, n)
	for i := range n {
		precision[i], recall[i] = ratio(c.TruePositive[i], c.FalsePositive[i]), ratio(c.TruePositive[i], c.FalseNegative[i])
	}
	rows := [][]float64{c.TruePositive, c.FalsePositive, c.TrueNegative, c.FalseNegative, precision, recall}
	plugin := appendMessage(nil, 1, []byte("pr_curves"))
	plugin = appendMessage(plugin, 2, appendInt(nil, 2, n)) // version 0 of its data: the number of thresholds
	metadata := appendMessage(nil, 1, plugin)
	content := appendMessage(nil, valueTensor, tensor(rows))
	w.value(step, tag, appendMessage(content, valueMetadata, metadata))
}

func tensor(rows [][]float64) []byte {
	const float = 1
	dim := func(n int) []byte { return appendMessage(nil, 2, appendInt(nil, 1, n)) }
	b := appendInt(nil, 1, float)
	b = appendMessage(b, 2, append(dim(len(rows)), dim(len(rows[0]))...))
	var values []byte
	for _, row := range rows {
		for _, v := range row {
			values = protowire.AppendFixed32(values, math.Float32bits(float32(v)))
		}
	}
	return appendMessage(b, 5, values) // packed float_val
}
