"""Reads the event files of a folder with TensorBoard's own reader and prints them as JSON."""
import json
import sys

from tensorboard.backend.event_processing import event_accumulator
from tensorboard.plugins.pr_curve import metadata
from tensorboard.util import tensor_util

events = event_accumulator.EventAccumulator(sys.argv[1], size_guidance={"tensors": 0, "scalars": 0, "images": 0})
events.Reload()
tags = events.Tags()
curves = {}
for tag in tags["tensors"]:
    assert events.SummaryMetadata(tag).plugin_data.plugin_name == metadata.PLUGIN_NAME
    curves[tag] = {
        "thresholds": metadata.parse_plugin_metadata(events.SummaryMetadata(tag).plugin_data.content).num_thresholds,
        "steps": {e.step: tensor_util.make_ndarray(e.tensor_proto).tolist() for e in events.Tensors(tag)},
    }
print(json.dumps({
    "scalars": {tag: {e.step: e.value for e in events.Scalars(tag)} for tag in tags["scalars"]},
    "images": {tag: {e.step: [e.width, e.height, len(e.encoded_image_string)] for e in events.Images(tag)} for tag in tags["images"]},
    "curves": curves,
}))
