"""Writes random vision transformers, as the programs that they come from keep them, and what PyTorch computes with them.

    make.py FOLDER tiny              the fixtures of this folder: nets of a few thousand numbers
    make.py FOLDER full [NAME ...]   nets of full size, for tests that run this by NMN_PYTHON

For each net there is NAME.safetensors (or .pth) with its weights, and NAME_out.safetensors with 8-bit pictures and what
comes out of them, for the size that the net is for and, where its program can, for others. Nothing is downloaded. A net
whose program cannot be imported is left out, with a line that says so.
"""
import math
import sys

import torch
from safetensors.torch import save_file
from torch.nn.functional import interpolate

folder, size = sys.argv[1], sys.argv[2]
only = sys.argv[3:]
tiny = size == "tiny"
# Tiny nets have 2 blocks, 24 numbers and 3 heads, patches of 4 or 7 pixels, and 4×4 of them.
depth, width, heads, hidden = 2, 24, 3, 40

imagenet = (.485, .456, .406), (.229, .224, .225)
clip = (.48145466, .4578275, .40821073), (.26862954, .26130258, .27577711)
half = (.5, .5, .5), (.5, .5, .5)


def randomise(net):
    """Draws all weights so that every part of the net matters to what comes out of it."""
    draw = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for name, p in net.named_parameters():
            noise = torch.randn(p.shape, generator=draw)
            if name.endswith(("gamma", "lambda1")):
                p.copy_(.4 + .2 * noise)
            elif p.dim() == 1 and name.endswith("weight"):
                p.copy_(1 + .2 * noise)
            elif name.endswith("bias"):
                p.copy_(.1 * noise)
            elif p.dim() > 1 and name.endswith("weight") and "position" not in name:
                p.copy_(noise / math.sqrt(p[0].numel()))
            else:  # tokens and positions
                p.copy_(.5 * noise)
    return net.eval()


def tokens(after, prefix):
    return {"cls": after[:, 0], "mean": after[:, prefix:].mean(1)}


def write(name, net, numbers, sizes, run, rename=None, torch_file=False):
    """Writes a net with what run(input) gives for pictures of some sizes. numbers are mean and deviation."""
    weights = {k: v.clone().contiguous() for k, v in net.state_dict().items()}
    if rename:
        weights = rename(weights)
    if torch_file:
        torch.save(weights, f"{folder}/{name}.pth")
    else:
        save_file(weights, f"{folder}/{name}.safetensors")
    mean, deviation = (torch.tensor(n).reshape(3, 1, 1) for n in numbers)
    out = {}
    for h, w in sizes:
        draw = torch.Generator().manual_seed(h * 1000 + w)
        pixels = torch.randint(0, 256, (2, h, w, 3), dtype=torch.uint8, generator=draw)
        with torch.inference_mode():
            for key, value in run((pixels.permute(0, 3, 1, 2) / 255 - mean) / deviation).items():
                out[f"{h}x{w}.{key}"] = value.float().contiguous()
        out[f"{h}x{w}.pixels"] = pixels
    save_file(out, f"{folder}/{name}_out.safetensors")
    print("wrote", name, flush=True)


def torchvision():
    from torchvision.models import VisionTransformer, vit_b_16, vision_transformer
    side, p = (16, 4) if tiny else (224, 16)
    made = lambda side: VisionTransformer(side, p, depth, heads, width, hidden, num_classes=5) if tiny else vit_b_16()
    net = randomise(made(side))

    def run(x):
        use = net
        if x.shape[-1] != side:
            use = made(x.shape[-1])
            use.load_state_dict(vision_transformer.interpolate_embeddings(x.shape[-1], p, net.state_dict()))
            use.eval()
        y = use.conv_proj(x).flatten(2).permute(0, 2, 1)
        y = use.encoder(torch.cat([use.class_token.expand(len(x), -1, -1), y], 1))
        assert torch.equal(use.heads(y[:, 0]), use(x))
        return tokens(y, 1)
    sizes = [(16, 16), (24, 24), (12, 12)] if tiny else [(224, 224)]
    write("torchvision", net, imagenet, sizes, run, torch_file=tiny)


def timm_net(model, patch, numbers, prefix, name, **more):
    import timm
    side = 4 * patch if tiny else 224
    if tiny:
        more |= dict(embed_dim=width, depth=depth, num_heads=heads, mlp_ratio=hidden / width, patch_size=patch)
    net = randomise(timm.create_model(model, img_size=side, **more))

    kept = {k: v.clone() for k, v in net.state_dict().items()}

    def run(x):  # every size from the weights of the file
        net.set_input_size((side, side))
        net.load_state_dict(kept)
        net.set_input_size(x.shape[-2:])
        return tokens(net.forward_features(x), prefix)
    sizes = [(side, side)]
    if tiny:
        sizes += [(6 * patch, 3 * patch), (3 * patch, 9 * patch)]
    write(name, net, numbers, sizes, run, torch_file=tiny and name == "timm_dinov2")


def timm():
    timm_net("vit_base_patch16_224", 4, half, 1, "timm", **({"num_classes": 5} if tiny else {}))


def timm_dinov2():
    timm_net("vit_small_patch14_dinov2", 7, imagenet, 1, "timm_dinov2")


def timm_dinov2_reg4():
    timm_net("vit_small_patch14_reg4_dinov2", 7, imagenet, 5, "timm_dinov2_reg4")


def timm_clip():
    timm_net("vit_base_patch16_clip_224", 4, clip, 1, "timm_clip", **({"num_classes": 5} if tiny else {}))


def meta(name, registers):
    """DINOv2's original has timm's names; how it interpolates is written down here after its source."""
    import timm
    p, side = (7, 28) if tiny else (14, 518)
    more = dict(embed_dim=width, depth=depth, num_heads=heads, mlp_ratio=hidden / width, patch_size=p) if tiny else {}
    if registers:
        more |= dict(reg_tokens=4, no_embed_class=True)
    net = randomise(timm.create_model("vit_small_patch14_dinov2", img_size=side, **more))
    draw = torch.Generator().manual_seed(5)
    kept = {k: v.clone() for k, v in net.state_dict().items()}
    d = kept["cls_token"].shape[-1]
    first = .5 * torch.randn(1, 1, d, generator=draw)  # the position of the class token

    def rename(weights):
        weights["mask_token"] = torch.zeros(1, d)
        if registers:
            weights["register_tokens"] = weights.pop("reg_token")
            weights["pos_embed"] = torch.cat([first, weights["pos_embed"]], 1)
        return weights

    def run(x):
        h, w = x.shape[-2] // p, x.shape[-1] // p
        old = kept["pos_embed"] if registers else kept["pos_embed"][:, 1:]
        m = math.isqrt(old.shape[1])
        grid = old.reshape(1, m, m, d).permute(0, 3, 1, 2)
        if (h, w) != (m, m) and registers:
            grid = interpolate(grid, size=(h, w), mode="bicubic", antialias=True)
        elif (h, w) != (m, m):
            grid = interpolate(grid, scale_factor=((h + .1) / m, (w + .1) / m), mode="bicubic")
        assert grid.shape[-2:] == (h, w)
        new = grid.permute(0, 2, 3, 1).flatten(1, 2)
        net.set_input_size(x.shape[-2:])
        with torch.no_grad():
            if registers:
                net.cls_token.copy_(kept["cls_token"] + first)
                net.pos_embed = torch.nn.Parameter(new)
            else:
                net.pos_embed = torch.nn.Parameter(torch.cat([kept["pos_embed"][:, :1], new], 1))
        return tokens(net.forward_features(x), 5 if registers else 1)
    sizes = [(28, 28), (42, 21), (21, 63)] if tiny else [(224, 224)]
    write(name, net, imagenet, sizes, run, rename=rename)


def dinov2():
    meta("dinov2", False)


def dinov2_reg4():
    meta("dinov2_reg4", True)


def hf(name, model, config, prefix):
    if tiny:
        config |= dict(hidden_size=width, num_hidden_layers=depth, num_attention_heads=heads, mlp_ratio=2, image_size=28,
                       patch_size=7)
    else:
        config |= dict(hidden_size=384, num_attention_heads=6, image_size=518, patch_size=14)
    net = randomise(model(config))
    run = lambda x: tokens(net(x).last_hidden_state, prefix)
    # As save_pretrained has them, whatever the program calls them inside.
    words = {".q_proj.": ".attention.query.", ".k_proj.": ".attention.key.", ".v_proj.": ".attention.value.",
             ".o_proj.": ".output.dense."}

    def rename(weights):
        for new, old in words.items():
            weights = {k.replace(new, old): v for k, v in weights.items()}
        return weights
    write(name, net, imagenet, [(28, 28), (42, 21), (21, 63)] if tiny else [(224, 224)], run, rename=rename)


def hf_dinov2():
    import transformers
    hf("hf_dinov2", lambda c: transformers.Dinov2Model(transformers.Dinov2Config(**c)), {}, 1)


def hf_dinov2_reg4():
    import transformers
    made = lambda c: transformers.Dinov2WithRegistersModel(transformers.Dinov2WithRegistersConfig(**c))
    hf("hf_dinov2_reg4", made, {"num_register_tokens": 4}, 5)


def clip_net():
    import transformers
    options = dict(patch_size=16)
    if tiny:
        options = dict(hidden_size=width, intermediate_size=hidden, num_hidden_layers=depth, num_attention_heads=heads,
                       image_size=16, patch_size=4, projection_dim=12)
    return randomise(transformers.CLIPVisionModelWithProjection(transformers.CLIPVisionConfig(**options)))


def clip_run(net, x):
    out = net(x, interpolate_pos_encoding=True)
    after = net.vision_model.post_layernorm(out.last_hidden_state)
    return tokens(after, 1) | {"embedding": out.image_embeds}


def hf_clip():
    net = clip_net()

    def rename(weights):  # a whole CLIP has a tower of texts too
        weights["logit_scale"] = torch.tensor(1.)
        weights["text_model.final_layer_norm.weight"] = torch.ones(4)
        weights["vision_model.embeddings.position_ids"] = torch.arange(17)[None]
        return weights
    sizes = [(16, 16), (24, 12), (12, 36)] if tiny else [(224, 224)]
    write("hf_clip", net, clip, sizes, lambda x: clip_run(net, x), rename=rename)


def openai():
    """OpenAI's names, from the same net. Where its grid is another, timm's function makes the positions fit."""
    import timm
    net = clip_net()
    words = [("vision_model.embeddings.class_embedding", "class_embedding"),
             ("vision_model.embeddings.patch_embedding", "conv1"), ("vision_model.pre_layrnorm", "ln_pre"),
             ("vision_model.embeddings.position_embedding.weight", "positional_embedding"),
             ("vision_model.post_layernorm", "ln_post"), ("vision_model.encoder.layers", "transformer.resblocks"),
             ("layer_norm1", "ln_1"), ("layer_norm2", "ln_2"), ("self_attn.out_proj", "attn.out_proj"),
             ("mlp.fc1", "mlp.c_fc"), ("mlp.fc2", "mlp.c_proj")]

    def rename(weights):
        renamed = {"logit_scale": torch.tensor(1.), "positional_embedding": torch.zeros(7, 8)}
        for name, value in weights.items():
            if "_proj." in name and "visual_" not in name and ".out_proj." not in name:
                if ".q_proj." not in name:
                    continue
                value = torch.cat([weights[name.replace(".q_", f".{part}_")] for part in "qkv"])
                name = name.replace("self_attn.q_proj.", "attn.in_proj_")
            elif name == "visual_projection.weight":
                name, value = "proj", value.T.contiguous()
            for new, old in words:
                name = name.replace(new, old)
            renamed["visual." + name] = value
        return {k: v.half() if v.is_floating_point() else v for k, v in renamed.items()}
    with torch.no_grad():
        for p in net.parameters():
            p.copy_(p.half().float())  # OpenAI's files are float16
    kept = net.vision_model.embeddings.position_embedding.weight.clone()

    def run(x):
        e, p = net.vision_model.embeddings, net.vision_model.embeddings.patch_size
        grid = [x.shape[-2] // p, x.shape[-1] // p]
        new = timm.layers.resample_abs_pos_embed(kept[None], grid)[0].detach()
        e.position_embedding = torch.nn.Embedding.from_pretrained(new)
        e.interpolate_pos_encoding = lambda *_: new[None]
        return clip_run(net, x)
    sizes = [(16, 16), (24, 12), (12, 36)] if tiny else [(224, 224)]
    write("openai", net, clip, sizes, run, rename=rename)


every = [torchvision, timm, timm_dinov2, timm_dinov2_reg4, timm_clip, dinov2, dinov2_reg4, hf_dinov2, hf_dinov2_reg4,
         hf_clip, openai]
for make in every:
    if not only or make.__name__ in only:
        try:
            make()
        except ImportError as missing:
            print(f"left out {make.__name__}: {missing}", flush=True)
