"""Check the wheels in dist/, if there are any: that pip of each platform accepts them, and that nothing is missing."""

from __future__ import annotations

import base64
import csv
import email
import hashlib
import io
import os
import struct
import zipfile
from pathlib import Path

import pytest

packaging_tags = pytest.importorskip("packaging.tags")
utils = pytest.importorskip("packaging.utils")

DIST = Path(os.environ.get("NMN_DIST", Path(__file__).parents[2] / "dist"))
WHEELS = sorted(DIST.glob("nmn_noisy_labels-*.whl"))

pytestmark = pytest.mark.skipif(not WHEELS, reason=f"no wheels in {DIST}")


@pytest.fixture(params=WHEELS, ids=lambda path: path.name.split("py3-none-")[1])
def wheel(request):
    return request.param


def test_the_name_has_tags_that_pip_knows(wheel):
    name, version, _, tags = utils.parse_wheel_filename(wheel.name)
    assert name == "nmn-noisy-labels"
    with zipfile.ZipFile(wheel) as archive:
        base = f"nmn_noisy_labels-{version}.dist-info"
        said = email.message_from_bytes(archive.read(f"{base}/WHEEL"))
        metadata = email.message_from_bytes(archive.read(f"{base}/METADATA"))
        assert archive.testzip() is None
        names = archive.namelist()
        record = list(csv.reader(io.TextIOWrapper(archive.open(f"{base}/RECORD"))))
        for file, digest, size in record:
            data = archive.read(file)
            sum_of_it = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            known = ("", "") if file.endswith("/RECORD") else (f"sha256={sum_of_it}", str(len(data)))
            assert (digest, size) == known, file
    assert {str(tag) for tag in tags} == set(said.get_all("Tag"))
    assert sorted(row[0] for row in record) == sorted(names)
    assert metadata["Version"] == str(version)
    assert metadata["Author"] == "The nmn authors"
    assert metadata["License-Expression"] == "MIT"
    for term in metadata.get_all("License-File"):
        assert f"{base}/licenses/{term}" in names


def test_each_platform_finds_its_wheel(wheel):
    _, _, _, tags = utils.parse_wheel_filename(wheel.name)
    kind = next(iter(tags)).platform
    if kind.startswith("macosx"):
        arch = kind.split("_", 3)[3]
        known = set(packaging_tags.compatible_tags((3, 9), platforms=packaging_tags.mac_platforms((12, 0), arch)))
    elif kind.startswith("win"):
        known = set(packaging_tags.compatible_tags((3, 9), platforms=[kind]))
    else:
        known = None
        for platform in ("manylinux_2_17", "musllinux_1_2"):
            assert any(tag.platform.startswith(platform) for tag in tags)
    assert known is None or tags <= known


def test_the_program_is_one_of_the_platform(wheel):
    _, version, _, tags = utils.parse_wheel_filename(wheel.name)
    kind = next(iter(tags)).platform
    name = "nmn.exe" if kind.startswith("win") else "nmn"
    with zipfile.ZipFile(wheel) as archive, archive.open(f"nmn_noisy_labels-{version}.data/scripts/{name}") as file:
        head = file.read(4096)
    if kind.startswith("win"):
        at = struct.unpack_from("<I", head, 0x3C)[0]
        assert head[:2] == b"MZ"
        assert head[at : at + 4] == b"PE\0\0"
        machine, want = struct.unpack_from("<H", head, at + 4)[0], {"win_amd64": 0x8664, "win_arm64": 0xAA64}[kind]
    elif kind.startswith("macosx"):
        assert head[:4] == b"\xcf\xfa\xed\xfe"
        machine = struct.unpack_from("<I", head, 4)[0]
        want = 0x0100000C if kind.endswith("arm64") else 0x01000007
    else:
        assert head[:6] == b"\x7fELF\x02\x01"
        machine, want = struct.unpack_from("<H", head, 18)[0], 183 if kind.endswith("aarch64") else 62
    assert machine == want


def test_that_of_this_machine_is_among_them():
    here = set(packaging_tags.sys_tags())
    assert any(here & utils.parse_wheel_filename(path.name)[3] for path in WHEELS)
