"""Models that people train, built small from their own packages: no weights, no network.

They come from `benchmarks/requirements.txt`, installed into `build/bench/packages`; the course
never sees them. torchvision's compiled operators do not load beside a CPU build of torch: its
models do not call them, so `stand_in` defines their names.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.measure import PACKAGES
from benchmarks.models import Case

LIBRARY = torch.library.Library("torchvision", "FRAGMENT")  # its operators go with it
WORDS = 50  # tokens of every vocabulary
SMALL = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 2}
SPEAKING = SMALL | {"vocab_size": WORDS}

sys.path.append(str(PACKAGES))


def stand_in() -> None:
    """Import torchvision, with names defined for the compiled operators that are missing."""
    while True:
        try:
            import_module("torchvision")
            return
        except RuntimeError as fault:
            missing = re.search(r"operator torchvision::(\w+) does not exist", str(fault))
            if not missing:
                raise
            LIBRARY.define(f"{missing[1]}(Tensor x) -> Tensor")
            for name in [name for name in sys.modules if name.startswith("torchvision")]:
                del sys.modules[name]


def are_installed() -> bool:
    """Say whether the packages of the real models are there."""
    return find_spec("transformers") is not None


def transformer(family: str, head: str, **given: object) -> Case:
    """Build a language model of transformers from its config; its loss is its own."""
    model, tokens = built(family, head, **given), torch.arange(8).reshape(1, 8)
    return Case(model, {"input_ids": tokens, "labels": tokens}, lambda said: said.loss)


def encoder(family: str, shape: tuple[int, ...], **given: object) -> Case:
    """Build a model of transformers that makes states of a picture or a sound of some shape."""
    return Case(built(family, "Model", **given), torch.ones(shape), mean_of_states)


def built(family: str, head: str, **given: object) -> nn.Module:
    stand_in()
    transformers = import_module("transformers")
    config = getattr(transformers, f"{family}Config")(**given)
    return getattr(transformers, f"{family}{head}")(config).train()


def mean_of_states(said: object) -> Tensor:
    return said.last_hidden_state.mean()


def picture_model(package: str, name: str, size: int = 64, **given: object) -> Case:
    """Build a model of torchvision or timm that tells classes of pictures apart."""
    stand_in()
    if package == "timm":
        model = import_module("timm").create_model(name, num_classes=10, **given)
    else:
        model = import_module("torchvision.models").get_model(name, num_classes=10, **given)
    classes = torch.tensor([1, 2])
    return Case(
        model.train(), torch.ones(2, 3, size, size), lambda said: F.cross_entropy(said, classes)
    )


def segmentation(name: str) -> Case:
    """Build a model of torchvision that tells the classes of all pixels."""
    stand_in()
    maker = getattr(import_module("torchvision.models.segmentation"), name)
    model = maker(weights=None, weights_backbone=None, num_classes=4).train()
    classes = torch.zeros(2, 64, 64, dtype=torch.long)
    return Case(model, torch.ones(2, 3, 64, 64), lambda said: F.cross_entropy(said["out"], classes))


# Models of torchvision that tell classes of pictures apart, and what else each is given.
CLASSIFIERS: dict[str, dict[str, object]] = {
    "resnet50": {},
    "vgg11": {},
    "googlenet": {"aux_logits": False, "init_weights": False},
    "densenet121": {},
    "mobilenet_v3_small": {},
    "efficientnet_b0": {},
    "squeezenet1_1": {},
    "swin_t": {},
    "shufflenet_v2_x0_5": {},
}
MODELS: dict[str, Callable[[], Case]] = {
    "llama, 32 layers": partial(
        transformer, "Llama", "ForCausalLM", num_hidden_layers=32, **SPEAKING
    ),
    **{
        family.lower(): partial(
            transformer,
            family,
            "ForCausalLM",
            num_hidden_layers=4,
            num_key_value_heads=2,
            **SPEAKING,
        )
        for family in ("Mistral", "Qwen2")
    },
    "gpt2": partial(
        transformer, "GPT2", "LMHeadModel", n_embd=32, n_head=2, n_layer=12, vocab_size=WORDS
    ),
    "gpt-neox": partial(transformer, "GPTNeoX", "ForCausalLM", num_hidden_layers=4, **SPEAKING),
    "opt": partial(
        transformer,
        "OPT",
        "ForCausalLM",
        hidden_size=32,
        ffn_dim=64,
        num_hidden_layers=4,
        num_attention_heads=2,
        vocab_size=WORDS,
        word_embed_proj_dim=32,
    ),
    "bloom": partial(
        transformer,
        "Bloom",
        "ForCausalLM",
        hidden_size=32,
        n_layer=4,
        n_head=2,
        vocab_size=WORDS,
    ),
    "mixtral": partial(
        transformer,
        "Mixtral",
        "ForCausalLM",
        num_hidden_layers=2,
        num_key_value_heads=2,
        num_local_experts=4,
        **SPEAKING,
    ),
    "bert": partial(transformer, "Bert", "ForMaskedLM", num_hidden_layers=6, **SPEAKING),
    "albert": partial(
        transformer, "Albert", "ForMaskedLM", embedding_size=16, num_hidden_layers=6, **SPEAKING
    ),
    "distilbert": partial(
        transformer,
        "DistilBert",
        "ForMaskedLM",
        dim=32,
        hidden_dim=64,
        n_layers=4,
        n_heads=2,
        vocab_size=WORDS,
    ),
    "electra": partial(transformer, "Electra", "ForMaskedLM", num_hidden_layers=4, **SPEAKING),
    "t5": partial(
        transformer,
        "T5",
        "ForConditionalGeneration",
        d_model=32,
        d_kv=16,
        d_ff=64,
        num_layers=4,
        num_heads=2,
        vocab_size=WORDS,
        decoder_start_token_id=0,
    ),
    "bart": partial(
        transformer,
        "Bart",
        "ForConditionalGeneration",
        d_model=32,
        encoder_layers=3,
        decoder_layers=3,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        vocab_size=WORDS,
    ),
    "vit (transformers)": partial(
        encoder,
        "ViT",
        (1, 3, 32, 32),
        num_hidden_layers=6,
        image_size=32,
        patch_size=8,
        **SMALL,
    ),
    "wav2vec2": partial(
        encoder,
        "Wav2Vec2",
        (1, 2_000),
        num_hidden_layers=4,
        conv_dim=(32,) * 7,
        num_conv_pos_embeddings=8,
        num_conv_pos_embedding_groups=2,
        mask_time_prob=0.0,
        **SMALL,
    ),
    **{
        name: partial(picture_model, "torchvision", name, **given)
        for name, given in CLASSIFIERS.items()
    },
    **{name: partial(segmentation, name) for name in ("fcn_resnet50", "deeplabv3_resnet50")},
    "convnext_tiny (timm)": partial(picture_model, "timm", "convnext_tiny"),
    "mixer_s32 (timm)": partial(picture_model, "timm", "mixer_s32_224", size=224),
    "vit_tiny (timm)": partial(picture_model, "timm", "vit_tiny_patch16_224", img_size=64),
}
