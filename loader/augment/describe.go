package augment

import (
	"fmt"
	"strings"
)

// Describe lists the draws for a bag in an epoch, except mixup. fromWidth × fromHeight is the size of the
// picture, and its crop takes width × height pixels of the canvas.
func (d *Draws) Describe(epoch, bag int, fromWidth, fromHeight, width, height int) []string {
	c, lines := &d.config, []string(nil)
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if c.crops() {
		r := d.Crop(epoch, bag, fromWidth, fromHeight)
		add("crop %d×%d at %d, %d (%.0f %% of %d×%d)", r.Width, r.Height, r.X, r.Y,
			100*float64(r.Width*r.Height)/float64(fromWidth*fromHeight), fromWidth, fromHeight)
	}
	if c.jitters() {
		j := d.Jitter(epoch, bag)
		var parts []string
		for _, i := range j.Order {
			switch factor := j.Factors[i]; {
			case i == 3 && factor != 0:
				parts = append(parts, fmt.Sprintf("hue %+.0f°", 360*factor))
			case i < 3 && factor != 1:
				parts = append(parts, fmt.Sprintf("%s ×%.2f", [3]string{"brightness", "contrast", "saturation"}[i], factor))
			}
		}
		add("%s", strings.Join(parts, ", "))
	}
	for _, s := range d.Steps(nil, epoch, bag, width, height) {
		add("%s", s)
	}
	if c.Erasing.Probability > 0 {
		if r, ok := d.Erase(epoch, bag, width, height); ok {
			add("erased %d×%d at %d, %d", r.Width, r.Height, r.X, r.Y)
		}
	}
	return lines
}
