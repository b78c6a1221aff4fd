package memory

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// freeOf is Free by the files that the kernel of Linux shows.
func freeOf(root fs.FS) (bytes int64, known bool) {
	if bytes, known = field(root, "proc/meminfo", "MemAvailable:"); !known {
		return 0, false
	}
	bytes *= 1024
	groups, _ := fs.ReadFile(root, "proc/self/cgroup") // without it there is no limit
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		switch {
		case parts[0] == "0" && parts[1] == "":
			bytes = min(bytes, version2.left(root, parts[2], bytes))
		case slices.Contains(strings.Split(parts[1], ","), "memory"):
			bytes = min(bytes, version1.left(root, parts[2], bytes))
		}
	}
	return max(min(bytes, addressesLeft(root, bytes)), 0), true
}

// addressesLeft is the remainder of the process's addresses below ulimit -v, and most without such a limit.
func addressesLeft(root fs.FS, most int64) int64 {
	limits, _ := fs.ReadFile(root, "proc/self/limits")
	used, counted := field(root, "proc/self/status", "VmSize:")
	for line := range strings.Lines(string(limits)) {
		numbers, is := strings.CutPrefix(line, "Max address space")
		if fields := strings.Fields(numbers); is && counted && len(fields) > 0 {
			if limit, err := strconv.ParseInt(fields[0], 10, 64); err == nil { // else it is unlimited
				return limit - used*1024
			}
		}
	}
	return most
}

// hierarchy describes the files of a version of control groups.
type hierarchy struct {
	folder, limit, used string
	cached              []string // lines of memory.stat: memory that the kernel reclaims when needed
}

var (
	version1 = hierarchy{folder: "sys/fs/cgroup/memory", limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes",
		cached: []string{"total_inactive_file", "total_active_file"}}
	version2 = hierarchy{folder: "sys/fs/cgroup", limit: "memory.max", used: "memory.current",
		cached: []string{"inactive_file", "active_file"}}
)

// left is the smallest remainder below the limits of a group and its parents, and most if none has a limit.
// In a container the group may have its name from outside, and then only the outermost one exists.
func (h *hierarchy) left(root fs.FS, group string, most int64) int64 {
	for {
		folder := path.Join(h.folder, path.Clean("/"+group))
		limit, limited := field(root, path.Join(folder, h.limit), "")
		used, counted := field(root, path.Join(folder, h.used), "")
		if limited && counted {
			left := limit - used
			for _, name := range h.cached {
				bytes, _ := field(root, path.Join(folder, "memory.stat"), name)
				left += bytes
			}
			most = min(most, left)
		}
		if path.Clean("/"+group) == "/" {
			return most
		}
		group = path.Dir(path.Clean("/" + group))
	}
}

// field reads the number after a name at the start of a line. Without a name it reads the only number of the
// file.
func field(root fs.FS, file, name string) (int64, bool) {
	data, err := fs.ReadFile(root, file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		if name != "" {
			if len(words) < 2 || words[0] != name {
				continue
			}
			words = words[1:]
		}
		if len(words) == 0 {
			return 0, false
		}
		n, err := strconv.ParseInt(words[0], 10, 64) // max is no number: there is no limit
		return n, err == nil && n >= 0
	}
	return 0, false
}
