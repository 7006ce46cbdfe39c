"""Models as text, for the commands."""

GELU = """
func.func @main(%x: tensor<?x4xf32> {tessera.name = "x"},
                %w: tensor<4x8xf32> {tessera.name = "w"})
    -> (tensor<?x8xf32> {tessera.name = "y"}) {
  %h = "tessera.matmul"(%x, %w) : (tensor<?x4xf32>, tensor<4x8xf32>) -> tensor<?x8xf32>
  %y = "tessera.gelu"(%h) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %y : tensor<?x8xf32>
}
"""

# The same, but the product has a second reader: it cannot fuse.
SHARED = GELU.replace(
    "func.return %y",
    '%z = "tessera.add"(%y, %h)'
    " : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>\n"
    "  func.return %z",
)

LOOKUP = """
func.func @main(%ids: tensor<?xi64> {tessera.name = "ids"})
    -> (tensor<?x2xf32> {tessera.name = "rows"}) {
  %t = "tessera.const"() {value = dense<[[1., 2.], [3., 4.], [5., 6.]]> : tensor<3x2xf32>}
      : () -> tensor<3x2xf32>
  %r = "tessera.gather"(%t, %ids) {axis = 0 : i64}
      : (tensor<3x2xf32>, tensor<?xi64>) -> tensor<?x2xf32>
  func.return %r : tensor<?x2xf32>
}
"""

BROKEN = GELU.replace("tensor<4x8xf32>) -> tensor<?x8xf32>", "tensor<4x8xf32>) ->")
