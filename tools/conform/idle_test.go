package conform

import (
	"strings"
	"testing"

	"nmn/kernels/conv"
	"nmn/kernels/noise"
	"nmn/kernels/pixels"
	"nmn/kernels/pool"
	"nmn/kernels/tensor"
	"nmn/kernels/transformer"
	"nmn/kernels/update"
)

type array = *tensor.Tensor

// idle is a backend whose operations do nothing and report success.
type idle struct{ *tensor.CPU }

func (idle) Conv(_, _, _, _ array, _ conv.Params) error                       { return nil }
func (idle) ConvAdd(_, _, _, _, _ array, _ conv.Params) error                 { return nil }
func (idle) ConvGradData(_, _, _, _ array, _ conv.Params) error               { return nil }
func (idle) ConvGradDataBias(_, _, _, _, _ array, _ conv.Params) error        { return nil }
func (idle) ConvGradFilter(_, _, _ array, _ conv.Params) error                { return nil }
func (idle) ConvGradBias(_, _ array, _ conv.Params) error                     { return nil }
func (idle) Dropout(_, _, _, _ array, _ float32) error                        { return nil }
func (idle) DropoutGrad(_, _, _, _ array, _ float32) error                    { return nil }
func (idle) MaxPool(_, _ array) error                                         { return nil }
func (idle) MaxPoolGrad(_, _, _, _ array, _ bool) error                       { return nil }
func (idle) MaxPoolGradBias(_, _, _, _, _ array, _ pool.MaxGradParams) error  { return nil }
func (idle) MaxPool3(_, _ array) error                                        { return nil }
func (idle) MaxPool3Grad(_, _, _, _ array, _ bool) error                      { return nil }
func (idle) MaxPool3GradBias(_, _, _, _, _ array, _ pool.MaxGradParams) error { return nil }
func (idle) BagPool(_, _, _ array, _ pool.Kind) error                         { return nil }
func (idle) BagPoolGrad(_, _, _, _, _ array, _ pool.Kind, _ bool) error       { return nil }
func (idle) LargeLosses(_, _, _, _ array, _ float32) error                    { return nil }
func (idle) SGD([]update.Entry, float32) error                                { return nil }
func (idle) Adam([]update.Entry, update.AdamParams) error                     { return nil }
func (idle) AdamW([]update.Entry, update.AdamParams) error                    { return nil }
func (idle) Average([]update.Entry, float32) error                            { return nil }
func (idle) Exchange([]update.Entry) error                                    { return nil }
func (idle) GradNorm(array, []update.Entry) error                             { return nil }
func (idle) Clip([]update.Entry, array, float32) error                        { return nil }
func (idle) Zero(array) error                                                 { return nil }
func (idle) Normalize(_, _, _, _ array, _ pixels.Params) error                { return nil }
func (idle) LSTM(_, _, _, _, _, _ array) error                                { return nil }
func (idle) LSTMGrad(_, _, _, _, _, _, _, _ array) error                      { return nil }
func (idle) Embed(_, _, _ array) error                                        { return nil }
func (idle) EmbedGrad(_, _, _ array) error                                    { return nil }
func (idle) CrossEntropy(_, _, _, _, _, _, _, _ array, _ float32) error       { return nil }
func (idle) LogSoftmax(array) error                                           { return nil }
func (idle) Add(_, _ array) error                                             { return nil }
func (idle) LayerNorm(_, _, _, _ array, _ float32) error                      { return nil }
func (idle) GELU(_, _ array, _ transformer.GELUKind) error                    { return nil }
func (idle) Attention(_, _ array, _ int) error                                { return nil }
func (idle) Linear(_, _, _, _ array, _ transformer.LinearParams) error        { return nil }
func (idle) PrepareLinear(array) error                                        { return nil }
func (idle) AddScaled(_, _, _, _ array) error                                 { return nil }
func (idle) Tokens(_, _, _, _ array) error                                    { return nil }
func (idle) PatchEmbed(_, _, _, _ array) error                                { return nil }
func (idle) NoiseStep(_ noise.StepOutput, _, _, _, _ array, _ noise.StepParams) error {
	return nil
}

// Every case has work to do, apart from updates that must change nothing.
func TestJudge_FindsOperationsThatDoNothing(t *testing.T) {
	unlessShort(t)
	b := idle{tensor.NewCPU(1, "idle")}
	for _, c := range Cases() {
		nothing := c.Op == "SGD" && strings.HasPrefix(c.Name, "entries=none") ||
			c.Op == "Average" && (c.Name == "entries=none" || strings.HasSuffix(c.Name, "share=0_thousandths")) ||
			c.Op == "Clip" && !c.Refuse && c.Name != named("norm=2,limit=5_tenths") ||
			strings.HasPrefix(c.Op, "Dropout") && strings.Contains(c.Name, "rate=0,inplace=true") ||
			strings.HasPrefix(c.Op, "ReLU") && strings.HasPrefix(c.Name, "l=1,inplace=true")
		if c.Large || nothing {
			continue
		}
		if len(calls{}.judge(b, nil, c, Options{Accuracy: FP32()})) == 0 {
			t.Errorf("%s/%s passes when nothing is done", c.Op, c.Name)
		}
	}
}
