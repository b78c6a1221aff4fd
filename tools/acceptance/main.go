// Acceptance prints the results of an experiment with the recipe of cross-fitting, check by check, next to
// the earlier results of a correct implementation. bench/acceptance.sh fills the folder.
//
//	go run ./tools/acceptance -seeds 1,2,3 -set scene build/acceptance/scene
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

func main() {
	seeds := flag.String("seeds", "1,2,3,4,5,6,7,8", "`seeds` to take the means over")
	set := flag.String("set", "scene", "name of the data `set`; only scene has bands")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: acceptance [-seeds N,...] [-set NAME] FOLDER")
		os.Exit(2)
	}
	text, err := table(flag.Arg(0), *set, strings.Split(*seeds, ","))
	if err != nil {
		fmt.Fprintln(os.Stderr, "acceptance:", err)
		os.Exit(1)
	}
	fmt.Print(text)
}

// table reads all runs of an experiment and returns Markdown, a table for each level of noise.
func table(folder, set string, seeds []string) (string, error) {
	var b strings.Builder
	reached, banded := 0, 0
	for at, level := range levels {
		var groups []*group
		for _, seed := range seeds {
			g, err := readGroup(folder, level.folder, seed)
			if err != nil {
				return "", err
			}
			groups = append(groups, g)
		}
		fmt.Fprintf(&b, "**%s, %s, %d seeds**\n\n| check | mean [min, max] | band | reached |\n|:--|--:|--:|:--|\n",
			set, level.title, len(seeds))
		for _, c := range checks {
			if strings.HasPrefix(c.name, "audit") && at == clean {
				continue // there is nothing to find
			}
			band := c.bands[at]
			if set != "scene" {
				band = nil
			}
			line, inside, err := c.line(groups, at, band)
			if err != nil {
				return "", err
			}
			b.WriteString(line)
			if band != nil {
				banded++
			}
			if inside {
				reached++
			}
		}
		b.WriteString("\n")
	}
	if banded > 0 {
		fmt.Fprintf(&b, "%d of %d reached.\n", reached, banded)
	}
	return b.String(), nil
}
