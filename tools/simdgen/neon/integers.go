package neon

// halfOf is the number of a 16-bit lane of the last operand.
func halfOf(x uint32) uint32 { return x&1<<20 | x>>1&1<<21 | x>>2<<11 }

var (
	halfLane = []place{at(0), at(5), at(16), halfOf}
	wordLane = []place{at(0), at(5), at(16), lane}
	left     = []place{at(0), at(5), at(16)} // and a distance
	right    = []place{at(0), at(5), func(x uint32) uint32 { return -x << 16 }}
)

// integers has the instructions of integers, and those that pick lanes. If halfLane has the places of an operand, it is
// one of the first 16 vectors.
var integers = map[string]instruction{
	"add.16b":        {0x4e208400, three, threePlaces},
	"add.4s":         {0x4ea08400, three, threePlaces},
	"add.8h":         {0x4e608400, three, threePlaces},
	"addhn.4h":       {0x0e604000, "v%d.T, v%d.4s, v%d.4s", threePlaces},
	"addhn2.8h":      {0x4e604000, "v%d.T, v%d.4s, v%d.4s", threePlaces},
	"dup.2d":         {0x4e080400, "v%d.T, v%d.d[%d]", []place{at(0), at(5), at(20)}},
	"mla.4s.lane":    {0x6f800000, "v%d.T, v%d.4s, v%d.s[%d]", wordLane},
	"mla.8h":         {0x4e609400, three, threePlaces},
	"mul.8h":         {0x4e609c00, three, threePlaces},
	"orr.16b":        {0x4ea01c00, three, threePlaces},
	"rshrn.2s":       {0x0f408c00, "v%d.T, v%d.2d, #%d", right},
	"rshrn.4h":       {0x0f208c00, "v%d.T, v%d.4s, #%d", right},
	"rshrn2.4s":      {0x4f408c00, "v%d.T, v%d.2d, #%d", right},
	"rshrn2.8h":      {0x4f208c00, "v%d.T, v%d.4s, #%d", right},
	"saddl.4s":       {0x0e600000, "v%d.T, v%d.4h, v%d.4h", threePlaces},
	"saddl2.4s":      {0x4e600000, "v%d.T, v%d.8h, v%d.8h", threePlaces},
	"shl.4s":         {0x4f205400, two + ", #%d", left},
	"shrn.8b":        {0x0f108400, "v%d.T, v%d.8h, #%d", right},
	"shrn2.16b":      {0x4f108400, "v%d.T, v%d.8h, #%d", right},
	"smlal.4s.lane":  {0x0f402000, "v%d.T, v%d.4h, v%d.h[%d]", halfLane},
	"smlal2.4s.lane": {0x4f402000, "v%d.T, v%d.8h, v%d.h[%d]", halfLane},
	"smlsl.4s.lane":  {0x0f406000, "v%d.T, v%d.4h, v%d.h[%d]", halfLane},
	"smlsl2.4s.lane": {0x4f406000, "v%d.T, v%d.8h, v%d.h[%d]", halfLane},
	"smull.4s.lane":  {0x0f40a000, "v%d.T, v%d.4h, v%d.h[%d]", halfLane},
	"smull2.4s.lane": {0x4f40a000, "v%d.T, v%d.8h, v%d.h[%d]", halfLane},
	"sqrshrn.4h":     {0x0f209c00, "v%d.T, v%d.4s, #%d", right},
	"sqrshrn2.8h":    {0x4f209c00, "v%d.T, v%d.4s, #%d", right},
	"sqshrn.8b":      {0x0f109400, "v%d.T, v%d.8h, #%d", right},
	"sqshrn2.16b":    {0x4f109400, "v%d.T, v%d.8h, #%d", right},
	"sqshrun.8b":     {0x2f108400, "v%d.T, v%d.8h, #%d", right},
	"sqshrun2.16b":   {0x6f108400, "v%d.T, v%d.8h, #%d", right},
	"sqxtun.8b":      {0x2e212800, "v%d.T, v%d.8h", twoPlaces},
	"sshll.4s":       {0x0f10a400, "v%d.T, v%d.4h, #%d", left},
	"ssubl.4s":       {0x0e602000, "v%d.T, v%d.4h, v%d.4h", threePlaces},
	"ssubl2.4s":      {0x4e602000, "v%d.T, v%d.8h, v%d.8h", threePlaces},
	"sub.4s":         {0x6ea08400, three, threePlaces},
	"sub.8h":         {0x6e608400, three, threePlaces},
	"subhn.4h":       {0x0e606000, "v%d.T, v%d.4s, v%d.4s", threePlaces},
	"subhn2.8h":      {0x4e606000, "v%d.T, v%d.4s, v%d.4s", threePlaces},
	"tbl.16b":        {0x4e000000, "v%d.T, {v%d.T}, v%d.T", threePlaces},
	"trn1.8h":        {0x4e402800, three, threePlaces},
	"trn2.8h":        {0x4e406800, three, threePlaces},
	"uaddw.4s":       {0x2e601000, "v%d.T, v%d.4s, v%d.4h", threePlaces},
	"uaddw.8h":       {0x2e201000, "v%d.T, v%d.8h, v%d.8b", threePlaces},
	"uaddw2.8h":      {0x6e201000, "v%d.T, v%d.8h, v%d.16b", threePlaces},
	"ucvtf.4s":       {0x6e21d800, two, twoPlaces},
	"umlal.2d.lane":  {0x2f802000, "v%d.T, v%d.2s, v%d.s[%d]", wordLane},
	"umlal2.2d.lane": {0x6f802000, "v%d.T, v%d.4s, v%d.s[%d]", wordLane},
	"umlal2.4s.lane": {0x6f402000, "v%d.T, v%d.8h, v%d.h[%d]", halfLane},
	"umull.2d.lane":  {0x2f80a000, "v%d.T, v%d.2s, v%d.s[%d]", wordLane},
	"umull.4s.lane":  {0x2f40a000, "v%d.T, v%d.4h, v%d.h[%d]", halfLane},
	"umull.8h":       {0x2e20c000, "v%d.T, v%d.8b, v%d.8b", threePlaces},
	"umull2.2d.lane": {0x6f80a000, "v%d.T, v%d.4s, v%d.s[%d]", wordLane},
	"umull2.8h":      {0x6e20c000, "v%d.T, v%d.16b, v%d.16b", threePlaces},
	"ushll.4s":       {0x2f10a400, "v%d.T, v%d.4h, #%d", left},
	"ushll.8h":       {0x2f08a400, "v%d.T, v%d.8b, #%d", left},
	"usubl.8h":       {0x2e202000, "v%d.T, v%d.8b, v%d.8b", threePlaces},
	"uzp1.16b":       {0x4e001800, three, threePlaces},
	"uzp1.4s":        {0x4e801800, three, threePlaces},
	"uzp1.8h":        {0x4e401800, three, threePlaces},
	"uzp2.4s":        {0x4e805800, three, threePlaces},
	"uzp2.8h":        {0x4e405800, three, threePlaces},
	"zip1.16b":       {0x4e003800, three, threePlaces},
	"zip1.4s":        {0x4e803800, three, threePlaces},
	"zip1.8h":        {0x4e403800, three, threePlaces},
	"zip2.16b":       {0x4e007800, three, threePlaces},
	"zip2.4s":        {0x4e807800, three, threePlaces},
	"zip2.8h":        {0x4e407800, three, threePlaces},
}
