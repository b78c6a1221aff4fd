"""Writes operations.json and pixels.npy: small pictures before and after torchvision's operations on pictures of
Pillow. Run it in this folder: python fixtures.py (torchvision 0.29.2, Pillow 13.0.0, NumPy)."""
import json

import numpy as np
from PIL import Image
from torchvision.transforms import functional as F
from torchvision.transforms.autoaugment import _apply_op
from torchvision.transforms.functional import InterpolationMode

FILL = [124, 117, 104]


def pictures():
    """A colourful one with edges and noise, a dull one, and one of few colours."""
    rng = np.random.default_rng(7)
    y, x = np.mgrid[0:15, 0:22]
    bright = np.stack([9 * x, 13 * y, 255 - 6 * x - 4 * y], -1) + rng.integers(-30, 30, (15, 22, 3))
    bright[4:11, 6:15] = [220, 40, 90]
    dull = np.stack([90 + x, 100 + 2 * y, 120 - x], -1) + rng.integers(0, 9, (15, 22, 3))
    few = rng.choice(np.array([0, 1, 128, 254, 255]), (11, 8, 3))
    return [np.clip(p, 0, 255).astype(np.uint8) for p in (bright, dull, few)]


def random_operations():
    """RandAugment's operations at several magnitudes, with the strengths of torchvision's table of 31 bins."""
    from torchvision.transforms import RandAugment
    for magnitude in (3, 9, 30):
        space = RandAugment(num_ops=1, magnitude=magnitude)._augmentation_space(31, (15, 22))
        for name, (strengths, signed) in space.items():
            strength = float(strengths[magnitude].item()) if strengths.ndim > 0 else 0.0
            for sign in (1, -1) if signed else (1,):
                yield name, magnitude, sign, sign * strength


def main():
    cases, pixels = [], []
    add = lambda a: (pixels.append(np.asarray(a).reshape(-1)), sum(len(p) for p in pixels) - pixels[-1].size)[1]
    for n, array in enumerate(pictures()):
        image = Image.fromarray(array)
        shape = {"width": image.width, "height": image.height, "before": add(array)}

        def case(op, result, **parameters):
            cases.append({"op": op, **shape, "after": add(result), **parameters})

        for factor in (0, .3, .77, 1.4, 2.5):
            case("brightness", F.adjust_brightness(image, factor), strength=factor)
            case("contrast", F.adjust_contrast(image, factor), strength=factor)
            case("saturation", F.adjust_saturation(image, factor), strength=factor)
            case("sharpness", F.adjust_sharpness(image, factor), strength=factor)
        for shift in (-.5, -.21, -.003, .05, .1, .5):
            case("hue", F.adjust_hue(image, shift), strength=shift)
        if n == 0:
            for name, magnitude, sign, strength in random_operations():
                result = _apply_op(image, name, strength, InterpolationMode.NEAREST, FILL)
                case(name, result, magnitude=magnitude, negative=sign < 0)
        for bits in (1, 4, 7):
            case("posterize", F.posterize(image, bits), strength=bits)
        for threshold in (0, 77.5, 128, 255):
            case("solarize", F.solarize(image, threshold), strength=threshold)
        case("autocontrast", F.autocontrast(image))
        case("equalize", F.equalize(image))
        for angle in (-13.7, 30, 90):
            case("rotate", F.rotate(image, angle, InterpolationMode.NEAREST, fill=FILL), strength=angle)
        top, left, height, width = 2, 3, image.height - 5, image.width - 4
        case("crop", F.crop(image, top, left, height, width), x=left, y=top, cropped=[width, height])
    with open("operations.json", "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
    np.save("pixels.npy", np.concatenate(pixels).astype(np.uint8))


main()
