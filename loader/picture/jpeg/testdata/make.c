// Writes small JPEG files of every kind that the decoder takes, and for each the FNV-1a sum of the RGB that
// libjpeg decodes from it with its default settings:
//
//	cc make.c -ljpeg -o make && ./make > pixels.tsv
//
// The files here were made with libjpeg-turbo 2.1.5.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>

enum { MOST = 256 };

struct kind {
	const char *name;
	int width, height, components;
	J_COLOR_SPACE space;  // that the file stores
	int across, down;     // sampling factors of the first component
	int progressive, restart, optimize, quality;
	const jpeg_scan_info *scans;
	int scan_count, wide_tables;
};

static const jpeg_scan_info apart[] = {
	{1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
static const jpeg_scan_info pair_and_one[] = {{1, {2}, 0, 63, 0, 0}, {2, {0, 1}, 0, 63, 0, 0}};
static const jpeg_scan_info refined[] = {
	{3, {0, 1, 2}, 0, 0, 0, 2}, {1, {0}, 1, 5, 0, 2}, {1, {1}, 1, 63, 0, 1}, {1, {2}, 1, 63, 0, 0}, {1, {0}, 6, 63, 0, 2},
	{3, {0, 1, 2}, 0, 0, 2, 1}, {1, {0}, 1, 63, 2, 1}, {3, {0, 1, 2}, 0, 0, 1, 0}, {1, {1}, 1, 63, 1, 0}, {1, {0}, 1, 63, 1, 0}};

static const struct kind kinds[] = {
	{"grey", 61, 47, 1, JCS_GRAYSCALE, 1, 1, 0, 0, 0, 90},
	{"grey-2x2", 21, 37, 1, JCS_GRAYSCALE, 2, 2, 0, 0, 0, 90},
	{"grey-progressive", 61, 47, 1, JCS_GRAYSCALE, 1, 1, 1, 0, 0, 80},
	{"444", 61, 47, 3, JCS_YCbCr, 1, 1, 0, 0, 0, 95},
	{"422", 61, 47, 3, JCS_YCbCr, 2, 1, 0, 0, 0, 90},
	{"420", 61, 47, 3, JCS_YCbCr, 2, 2, 0, 0, 0, 90},
	{"440", 61, 47, 3, JCS_YCbCr, 1, 2, 0, 0, 0, 90},
	{"411", 61, 47, 3, JCS_YCbCr, 4, 1, 0, 0, 0, 90},
	{"410", 61, 47, 3, JCS_YCbCr, 4, 2, 0, 0, 0, 90},
	{"420-wide", 203, 16, 3, JCS_YCbCr, 2, 2, 0, 0, 1, 75},
	{"420-of-one-pixel", 1, 1, 3, JCS_YCbCr, 2, 2, 0, 0, 0, 90},
	{"420-of-four-columns", 4, 33, 3, JCS_YCbCr, 2, 2, 0, 0, 0, 90},
	{"422-of-five-columns", 5, 9, 3, JCS_YCbCr, 2, 1, 0, 0, 0, 90},
	{"420-restarts", 90, 70, 3, JCS_YCbCr, 2, 2, 0, 1, 0, 90},
	{"444-restarts", 90, 70, 3, JCS_YCbCr, 1, 1, 0, 5, 1, 60},
	{"420-best", 61, 47, 3, JCS_YCbCr, 2, 2, 0, 0, 1, 100},
	{"420-worst", 61, 47, 3, JCS_YCbCr, 2, 2, 0, 0, 0, 1},
	{"420-wide-tables", 61, 47, 3, JCS_YCbCr, 2, 2, 0, 0, 0, 3, NULL, 0, 1},
	{"420-apart", 61, 47, 3, JCS_YCbCr, 2, 2, 0, 3, 0, 90, apart, 3},
	{"422-two-scans", 61, 47, 3, JCS_YCbCr, 2, 1, 0, 0, 0, 90, pair_and_one, 2},
	{"420-progressive", 61, 47, 3, JCS_YCbCr, 2, 2, 1, 0, 0, 90},
	{"444-progressive", 61, 47, 3, JCS_YCbCr, 1, 1, 1, 0, 0, 97},
	{"422-progressive-restarts", 61, 47, 3, JCS_YCbCr, 2, 1, 1, 2, 0, 85},
	{"420-refined", 61, 47, 3, JCS_YCbCr, 2, 2, 1, 0, 0, 92, refined, 10},
	{"rgb", 61, 47, 3, JCS_RGB, 1, 1, 0, 0, 0, 90},
	{"rgb-progressive", 61, 47, 3, JCS_RGB, 1, 1, 1, 0, 0, 90},
	{"cmyk", 21, 17, 4, JCS_CMYK, 1, 1, 0, 0, 0, 90},
};

// sample has smooth parts, edges and noise.
static unsigned sample(int x, int y, int c) {
	uint32_t h = (uint32_t)(x * 73856093) ^ (uint32_t)(y * 19349663) ^ (uint32_t)(c * 83492791);
	h = (h ^ h >> 13) * 1274126177u;
	double v = 128 + 90 * sin(.11 * x + .05 * c * y) + (x > y + 9 * c ? 50 : -30) + (double)(h >> 16 & 31) - 16;
	return v < 0 ? 0 : v > 255 ? 255 : (unsigned)v;
}

static void encode(const struct kind *k, const char *path) {
	struct jpeg_compress_struct c;
	struct jpeg_error_mgr errors;
	unsigned char row[4 * MOST];
	JSAMPROW rows[] = {row};
	FILE *f = fopen(path, "wb");
	if (!f) exit(1);
	c.err = jpeg_std_error(&errors);
	jpeg_create_compress(&c);
	jpeg_stdio_dest(&c, f);
	c.image_width = k->width, c.image_height = k->height, c.input_components = k->components;
	c.in_color_space = k->components == 1 ? JCS_GRAYSCALE : k->components == 4 ? JCS_CMYK : JCS_RGB;
	jpeg_set_defaults(&c);
	jpeg_set_colorspace(&c, k->space);
	jpeg_set_quality(&c, k->quality, !k->wide_tables);
	c.comp_info[0].h_samp_factor = k->across, c.comp_info[0].v_samp_factor = k->down;
	c.restart_interval = k->restart, c.optimize_coding = k->optimize;
	if (k->progressive) jpeg_simple_progression(&c);
	if (k->scans) c.scan_info = k->scans, c.num_scans = k->scan_count;
	jpeg_start_compress(&c, TRUE);
	for (int y = 0; y < k->height; y++) {
		for (int i = 0; i < k->width * k->components; i++) row[i] = sample(i / k->components, y, i % k->components);
		jpeg_write_scanlines(&c, rows, 1);
	}
	jpeg_finish_compress(&c);
	jpeg_destroy_compress(&c);
	fclose(f);
}

static void decode(const char *name, const char *path) {
	struct jpeg_decompress_struct d;
	struct jpeg_error_mgr errors;
	unsigned char row[4 * MOST];
	JSAMPROW rows[] = {row};
	uint64_t sum = 14695981039346656037u;
	FILE *f = fopen(path, "rb");
	if (!f) exit(1);
	d.err = jpeg_std_error(&errors);
	jpeg_create_decompress(&d);
	jpeg_stdio_src(&d, f);
	jpeg_read_header(&d, TRUE);
	if (d.num_components != 4) d.out_color_space = JCS_RGB;
	jpeg_start_decompress(&d);
	int width = d.output_width, height = d.output_height, channels = d.output_components;
	while (d.output_scanline < d.output_height) {
		jpeg_read_scanlines(&d, rows, 1);
		for (int i = 0; i < width * channels; i++) sum = (sum ^ row[i]) * 1099511628211u;
	}
	jpeg_finish_decompress(&d);
	jpeg_destroy_decompress(&d);
	fclose(f);
	printf("%s\t%d\t%d\t%016llx\n", name, width, height, (unsigned long long)sum);
}

int main(void) {
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		char path[200];
		snprintf(path, sizeof path, "%s.jpg", kinds[i].name);
		encode(&kinds[i], path);
		decode(kinds[i].name, path);
	}
	return 0;
}
