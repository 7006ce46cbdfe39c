// RUN: tessera-opt %s | filecheck %s

// CHECK-LABEL: @text_goes_through
// CHECK: return
func.func @text_goes_through(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  func.return %x : tensor<2x3xf32>
}
