"""A document that shows everything an audit can say."""

from dataclasses import replace

from tessera.decisions import Document, Site

ATTENTION = Site(
    id="main/model.encoder.layer.0.attention.self/attention#0",
    location="model.onnx:25:1",
    layer="model.encoder.layer.0.attention.self",
    ops=("tessera.matmul", "tessera.softmax", "tessera.matmul"),
    kind="attention",
    outcome="fused",
    kernel="matmul_softmax_matmul",
    source="descriptor",
    intent="matmul_softmax_matmul",
    intent_verdict="honoured",
    semantics={"scale": 0.125, "causal": "none"},
    placement="reference",
    bytes_saved=3 * 2**20,
    launches_saved=4,
    flops=10**9,
)
NORM = Site(
    id="main/model.embeddings.LayerNorm/layernorm#0",
    location="model.onnx:4:1",
    layer="model.embeddings.LayerNorm",
    kind="layernorm",
    outcome="refused",
    code="TSR-F201",
    predicate="kernel",
    found="layernorm",
    wanted="a pattern of the catalog",
    suggestion="nothing: the kernel comes with a later release",
    placement="reference",
)
CONTRADICTED = Site(
    id="main/model.encoder.layer.0.mlp/gelu#0",
    location="model.onnx:34:1",
    layer="model.encoder.layer.0.mlp",
    kind="gelu",
    outcome="fused",
    kernel="matmul_gelu",
    source="rediscovered",
    intent="matmul_softmax",
    intent_verdict="contradicted",
    code="TSR-F112",
    predicate="the terminal op",
    found="gelu",
    wanted="softmax",
    suggestion="compile from the model again",
    placement="native",
)
NEAR = Site(
    id="main/model.encoder.layer.1.mlp/gelu#0",
    location="model.onnx:64:1",
    layer="model.encoder.layer.1.mlp",
    kind="gelu",
    outcome="refused",
    nearest="matmul_gelu",
    code="TSR-F102",
    predicate="uses of %h",
    found="2",
    wanted="1",
    suggestion="give the other reader its own computation",
)
COSTLY = Site(
    id="main/model.pooler/swiglu#0",
    location="model.onnx:99:1",
    layer="model.pooler",
    kind="swiglu",
    outcome="not_profitable",
    code="TSR-F301",
    predicate="cost",
    found="1.2 ms fused",
    wanted="less than 0.9 ms unfused",
    placement="library",
)


def layer(site: Site, number: int) -> Site:
    """The same site in another layer."""
    return replace(
        site,
        id=site.id.replace("layer.0", f"layer.{number}"),
        layer=site.layer.replace("layer.0", f"layer.{number}"),
        location=site.location.replace(":1", f"{number}:1"),
    )


def full() -> Document:
    attention = [layer(ATTENTION, number) for number in range(6)]
    sites = (NORM, *attention, CONTRADICTED, NEAR, COSTLY)
    return Document("models/encoder.onnx", "apple_cpu", "host CPU", sites)
