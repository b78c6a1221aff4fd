package frames

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image/jpeg"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"nmn/internal/fault"
	"nmn/loader/shard"
)

// Source is a clip to be read.
type Source struct {
	Name string // name of the clip in the index, with slashes
	Path string // path of its file
}

// Clip is what was taken of a clip.
type Clip struct {
	Record    shard.Record
	Pictures  [][]byte // JPEG files
	Complaint string   // a message of ffmpeg about a clip that it could read nevertheless; usually empty
}

// Extract takes the frames of a clip. Errors about the clip wrap ErrClip.
//
// The packets of the clip are counted first, which needs no decoding and is nearly always the number of
// frames. Then the clip is decoded from start to end: the chosen frames are kept, all are counted. If the
// count differs, the choice was wrong, and the clip is decoded again with the right one.
func (f *FFmpeg) Extract(ctx context.Context, s Source, c Config) (*Clip, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	size, err := regularFile(s.Path)
	if err != nil {
		return nil, fault.As(ErrClip, err)
	}
	path, err := filepath.Abs(s.Path)
	if err != nil {
		return nil, err
	}
	e := extraction{tool: f, config: c, input: inputScheme + path}
	clip, err := e.clip(ctx)
	if err != nil {
		return nil, e.judge(ctx, err)
	}
	clip.Record.Clip, clip.Record.SourceBytes = s.Name, size
	return clip, nil
}

// regularFile returns the size of a file that is worth a try.
func regularFile(path string) (int64, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, fmt.Errorf("not a file but %v", info.Mode().Type())
	case info.Size() == 0:
		return 0, errors.New("the file is empty")
	}
	return info.Size(), nil
}

// inputScheme keeps ffmpeg from taking the name of a file for something else.
const inputScheme = "file:"

// extraction is the work on one clip.
type extraction struct {
	tool   *FFmpeg
	config Config
	input  string
	limit  uint64 // bytes of ffmpeg's address space
}

func (e *extraction) clip(ctx context.Context) (*Clip, error) {
	packets, err := e.packets(ctx)
	if err != nil {
		return nil, err
	}
	if packets.count == 0 {
		return nil, errors.New("it has no frames")
	}
	if err := e.checkSize(packets); err != nil {
		return nil, err
	}
	e.limit = e.addressSpace(packets.width * packets.height)
	count := packets.count
	const passes = 2
	for range passes {
		clip, err := e.decode(ctx, choose(count, e.config.Frames))
		if err != nil {
			return nil, err
		}
		switch {
		case clip.Record.Decoded == 0:
			return nil, errors.New("no frame of it can be decoded")
		case clip.Record.Decoded == count && len(clip.Pictures) == len(clip.Record.Frames):
			return clip, nil
		case clip.Record.Decoded == count:
			return nil, fmt.Errorf("ffmpeg gave %d of %d frames", len(clip.Pictures), len(clip.Record.Frames))
		}
		count = clip.Record.Decoded
	}
	return nil, fmt.Errorf("ffmpeg decodes %d frames of it once and another number the next time", count)
}

// checkSize refuses frames that are too large.
func (e *extraction) checkSize(l *listing) error {
	if w, h := l.width, l.height; w > maxSide || h > maxSide || w*h > e.config.MaxPixels {
		return fmt.Errorf("its frames have %d×%d pixels, more than `frames.max_pixels` %d or %d in a row",
			w, h, e.config.MaxPixels, maxSide)
	}
	return nil
}

// addressSpace returns a bound that no legitimate decoding of frames of the given size needs. It covers the
// program and its libraries, the stacks and heaps of its threads, and 64 frames plus one for each thread,
// with four bytes and two of working space a pixel.
func (e *extraction) addressSpace(pixels int) uint64 {
	threads := uint64(e.config.Threads)
	return 4<<30 + threads*(256<<20) + (64+threads)*6*uint64(pixels)
}

// containers are ffmpeg's names of the formats that are read: those that hold the frames themselves. Playlists and
// manifests (DASH, HLS, concat) name other files, any on this machine, whatever their own name ends in.
const containers = "asf,avi,dv,flv,gif,h264,hevc,ivf,m4v,matroska,mjpeg,mov,mpeg,mpegts,mpegvideo,mxf,ogg,yuv4mpegpipe"

// arguments of every call; the whitelists prevent a file from referring to other resources.
func (e *extraction) arguments(decoding ...string) []string {
	args := []string{"-nostdin", "-hide_banner", "-v", "error"}
	args = append(args, decoding...)
	return append(args, "-protocol_whitelist", "file", "-format_whitelist", containers, "-i", e.input)
}

// The first stream of moving pictures, which a cover is not.
const video = "0:V:0"

// packets counts the packets of the clip.
func (e *extraction) packets(ctx context.Context) (*listing, error) {
	ctx, cancel := context.WithTimeout(ctx, e.config.Timeout)
	defer cancel()
	args := append(e.arguments(), "-map", video, "-c", "copy", "-f", "framecrc", "pipe:1")
	var l listing
	_, err := e.tool.run(ctx, e.addressSpace(0), args, l.read)
	if end, is := errors.AsType[failure](err); is {
		switch {
		case strings.Contains(end.complaints, "matches no streams"):
			return nil, errors.New("there is no video in it")
		case strings.Contains(end.complaints, "not on whitelist"):
			return nil, errors.New("it is no video file, but a list of other files, or has a rare format: " +
				"convert it to MP4 or Matroska")
		}
	}
	return &l, err
}

// decode decodes the clip and takes the chosen frames.
//
// Each frame passes as it is decoded (-fps_mode passthrough), and the filter counts it even if its size
// changes midway (-reinit_filter 0). The list of all frames has times in microseconds.
func (e *extraction) decode(ctx context.Context, chosen []int) (*Clip, error) {
	ctx, cancel := context.WithTimeout(ctx, e.config.Timeout)
	defer cancel()
	args := e.arguments("-threads", strconv.Itoa(e.config.Threads), "-filter_threads", "1", "-reinit_filter", "0",
		"-max_pixels", strconv.Itoa(2*e.config.MaxPixels)) // for the decoder's own, padded frames
	args = append(args, "-map", video, "-fps_mode", "passthrough",
		"-vf", selectFilter(chosen)+","+e.pictureFilter(), "-f", "yuv4mpegpipe", "pipe:1")
	args = append(args, "-map", video, "-fps_mode", "passthrough",
		"-enc_time_base", "1:1000000", "-c:v", "wrapped_avframe", "-f", "framecrc", "pipe:3")
	l := listing{wanted: chosen}
	p := pictures{quality: e.config.Quality, most: len(chosen), maxPixels: e.config.MaxPixels}
	complaint, err := e.tool.run(ctx, e.limit, args, p.read, l.read)
	if err == nil {
		err = e.checkSize(&l)
	}
	if err != nil {
		return nil, err
	}
	clip := &Clip{
		Pictures:  p.files,
		Complaint: complaint,
		Record: shard.Record{
			Width:         l.width,
			Height:        l.height,
			PictureWidth:  p.width,
			PictureHeight: p.height,
			Decoded:       l.count,
			FrameRate:     p.rate,
		},
	}
	for i, t := range l.times {
		clip.Record.Frames = append(clip.Record.Frames, shard.Frame{Number: chosen[i], Time: shard.Seconds(t)})
	}
	return clip, nil
}

// pictureFilter converts a frame for JPEG: 8 bits, 4:2:0, the full range of values and the matrix of BT.601,
// at the requested size. The size of the first frame applies throughout.
func (e *extraction) pictureFilter() string {
	size := ""
	if s := e.config.Size; s > 0 {
		side := func(name string) string {
			return fmt.Sprintf("'if(gt(max(iw,ih),%d),max(1,round(%s*%d/max(iw,ih))),%s)'", s, name, s, name)
		}
		size = "w=" + side("iw") + ":h=" + side("ih") + ":"
	}
	return "scale=" + size +
		"flags=bicubic+accurate_rnd+full_chroma_int+bitexact:out_color_matrix=bt601:out_range=full,format=yuv420p"
}

// pictures encodes frames as they come.
type pictures struct {
	quality, most, maxPixels int

	width, height int
	rate          float64
	files         [][]byte
}

func (p *pictures) read(r io.Reader) error {
	y, err := newY4M(r, p.maxPixels)
	if err != nil {
		return err
	}
	p.width, p.height, p.rate = y.width, y.height, y.rate
	var file bytes.Buffer
	for {
		picture, err := y.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if len(p.files) == p.most {
			return fmt.Errorf("ffmpeg gives more than the %d frames that were asked for", p.most)
		}
		file.Reset()
		if err := jpeg.Encode(&file, picture, &jpeg.Options{Quality: p.quality}); err != nil {
			return fmt.Errorf("frame of %d×%d: %w", y.width, y.height, err)
		}
		if file.Len() > shard.MaxPicture {
			return fmt.Errorf(
				"frame of %d×%d becomes a JPEG of %d bytes, at most %d can be kept: ask for a smaller `frames.size`",
				y.width, y.height, file.Len(), shard.MaxPicture)
		}
		p.files = append(p.files, bytes.Clone(file.Bytes()))
	}
}

// judge separates errors about the clip from those about everything else.
func (e *extraction) judge(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, context.DeadlineExceeded):
		return fault.As(ErrClip, fmt.Errorf("ffmpeg was not done after %v (`frames.clip_timeout`): %w", e.config.Timeout,
			err))
	case errors.Is(err, ErrTool), isSystem(err):
		return err
	}
	return fault.As(ErrClip, err)
}
