package report

import (
	"fmt"

	"nmn/report/chart"
)

// LossDerivative is the derivative of the loss -log p(z) with respect to the logit of a class, at the clean-label
// probability p1 = p(y=1|I) and for noise rates q01 = p(z=0|y=1) and q10 = p(z=1|y=0):
//
//	dL/do = p1 - rho_1 = p1 (1-p1) (q_z0 - q_z1) / (q_z0 (1-p1) + q_z1 p1)
//
// Here rho_1 is the posterior of y = 1 given the observed label z (section on missing and incorrect labels,
// which gives the likelihood's derivative rho - p). Without noise it is p1 - z, also if the quotient is 0/0.
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

// figure3Charts draw the paper's Figure 3: the derivative of the loss against p1, for a missing label (z = 0) and an
// incorrect one (z = 1), without a noise model and with one whose rates are both 0.05. If the prediction contradicts
// the label, the noise model takes the gradient back to zero.
func figure3Charts() []*chart.Chart {
	return []*chart.Chart{derivativeChart(0, "(a) Missing label: z = 0, y = 1"),
		derivativeChart(1, "(b) Incorrect label: z = 1, y = 0")}
}

const curveSamples = 1000

func derivativeChart(z int, title string) *chart.Chart {
	free, modelled := make([]chart.Point, curveSamples+1), make([]chart.Point, curveSamples+1)
	for i := range free {
		p1 := float64(i) / curveSamples
		free[i] = chart.Point{X: p1, Y: LossDerivative(z, p1, 0, 0)}
		modelled[i] = chart.Point{X: p1, Y: LossDerivative(z, p1, Figure3Rate, Figure3Rate)}
	}
	c := &chart.Chart{Title: title, X: chart.Axis{Label: "Prediction p(y=1 | I)", Max: 1, Step: .2},
		Y: chart.Axis{Label: "Derivative of the loss ∂L/∂o", Max: 1, Step: .2},
		Marks: []chart.Mark{{Name: "noise-free", Color: chart.Blue, Dashed: true, Points: free},
			{Name: fmt.Sprintf("NMN, q01 = q10 = %.2f", Figure3Rate), Color: chart.Red, Points: modelled}},
		Summary: "Without a noise model the derivative is largest where the prediction contradicts the label; with one it " +
			"falls back to 0 there."}
	if z == 1 {
		c.Y.Min, c.Y.Max = -1, 0
	}
	return c
}
