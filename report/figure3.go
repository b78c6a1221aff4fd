package report

import (
	"fmt"
	"image/color"
	"io"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// LossDerivative is the derivative of the loss -log p(z) with respect to the logit of a class, at
// the clean-label probability p1 = p(y=1|I) and for noise rates q01 = p(z=0|y=1) and
// q10 = p(z=1|y=0):
//
//	dL/do = p1 - rho_1 = p1 (1-p1) (q_z0 - q_z1) / (q_z0 (1-p1) + q_z1 p1)
//
// rho_1 being the posterior of y = 1 given the observed label z (section on missing and incorrect
// labels, where the likelihood's derivative rho - p is given). Without noise it is p1 - z, also where
// the quotient is 0/0.
func LossDerivative(z int, p1, q01, q10 float64) float64 {
	if q01 == 0 && q10 == 0 {
		return p1 - float64(z)
	}
	qz0, qz1 := 1-q10, q01
	if z == 1 {
		qz0, qz1 = q10, 1-q01
	}
	return p1 * (1 - p1) * (qz0 - qz1) / (qz0*(1-p1) + qz1*p1)
}

// Figure3Rate is the value of q01 and q10 in the paper's Figure 3.
const Figure3Rate = 0.05

// Figure3 draws the paper's Figure 3 as "svg" or "png": the derivative of the loss against p1, for a
// missing label (z = 0) and an incorrect one (z = 1), without a noise model and with one whose rates
// are both 0.05. Where the prediction contradicts the label, the noise model takes the gradient
// back to zero.
func Figure3(w io.Writer, format string) error {
	left, err := derivativePlot(0, "(a) Missing label: z = 0, y = 1")
	if err != nil {
		return err
	}
	placeLegend(left, true, true)
	right, err := derivativePlot(1, "(b) Incorrect label: z = 1, y = 0")
	if err != nil {
		return err
	}
	placeLegend(right, false, false)
	return drawPanels(w, format, left, right)
}

const curveSamples = 1000

func derivativePlot(z int, title string) (*plot.Plot, error) {
	p := newPlot(title, "Prediction p(y=1 | I)", "Derivative of the loss ∂L/∂o")
	free, modelled := make(plotter.XYs, curveSamples+1), make(plotter.XYs, curveSamples+1)
	for i := range free {
		p1 := float64(i) / curveSamples
		free[i] = plotter.XY{X: p1, Y: LossDerivative(z, p1, 0, 0)}
		modelled[i] = plotter.XY{X: p1, Y: LossDerivative(z, p1, Figure3Rate, Figure3Rate)}
	}
	if err := addLine(p, "noise-free", free, blue, true); err != nil {
		return nil, err
	}
	if err := addLine(p, fmt.Sprintf("NMN, q01 = q10 = %.2f", Figure3Rate), modelled, red, false); err != nil {
		return nil, err
	}
	p.X.Min, p.X.Max = 0, 1
	p.Y.Min, p.Y.Max = 0, 1
	if z == 1 {
		p.Y.Min, p.Y.Max = -1, 0
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = fifths(p.X.Min), fifths(p.Y.Min)
	return p, nil
}

// fifths marks an axis of length 1 every 0.2.
func fifths(from float64) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i := range 6 {
		v := from + float64(i)/5
		label := strings.Replace(fmt.Sprintf("%.1f", v), "-", "\u2212", 1) // the sign, not a hyphen
		ticks = append(ticks, plot.Tick{Value: v, Label: label})
	}
	return ticks
}

// The colours are told apart in print and by colour-blind readers too (Okabe and Ito).
var (
	blue = color.RGBA{R: 0, G: 114, B: 178, A: 255}
	red  = color.RGBA{R: 213, G: 94, B: 0, A: 255}
)

const panelWidth, panelHeight = 9 * vg.Centimeter, 7 * vg.Centimeter
