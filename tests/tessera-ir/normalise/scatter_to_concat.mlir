// RUN: tessera-opt %s --tessera-scatter-to-concat | filecheck %s

// CHECK-LABEL: @covering_writes
// CHECK: %[[JOINED:.*]] = "tessera.concat"(%a, %b) {axis = 0 : i64}
// CHECK: return %[[JOINED]]
func.func @covering_writes(%a: tensor<2x3xf32>, %b: tensor<1x3xf32>) -> tensor<3x3xf32> {
  %fresh = "tessera.fill"() {value = 0.0 : f64} : () -> tensor<3x3xf32>
  %first = "tessera.const"() {value = dense<[[0], [1]]> : tensor<2x1xi64>} : () -> tensor<2x1xi64>
  %last = "tessera.const"() {value = dense<[[2]]> : tensor<1x1xi64>} : () -> tensor<1x1xi64>
  %x = "tessera.scatter_nd"(%fresh, %last, %b) {reduction = "none"} : (tensor<3x3xf32>, tensor<1x1xi64>, tensor<1x3xf32>) -> tensor<3x3xf32>
  %y = "tessera.scatter_nd"(%x, %first, %a) {reduction = "none"} : (tensor<3x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}

// CHECK-LABEL: @a_row_is_left
// CHECK: tessera.scatter_nd
func.func @a_row_is_left(%x: tensor<3x3xf32>, %a: tensor<2x3xf32>) -> tensor<3x3xf32> {
  %first = "tessera.const"() {value = dense<[[0], [1]]> : tensor<2x1xi64>} : () -> tensor<2x1xi64>
  %y = "tessera.scatter_nd"(%x, %first, %a) {reduction = "none"} : (tensor<3x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}

// CHECK-LABEL: @writes_overlap
// CHECK: tessera.scatter_nd
// CHECK: tessera.scatter_nd
func.func @writes_overlap(%x: tensor<2x3xf32>, %a: tensor<2x3xf32>, %b: tensor<1x3xf32>) -> tensor<2x3xf32> {
  %all = "tessera.const"() {value = dense<[[0], [1]]> : tensor<2x1xi64>} : () -> tensor<2x1xi64>
  %last = "tessera.const"() {value = dense<[[1]]> : tensor<1x1xi64>} : () -> tensor<1x1xi64>
  %y = "tessera.scatter_nd"(%x, %all, %a) {reduction = "none"} : (tensor<2x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = "tessera.scatter_nd"(%y, %last, %b) {reduction = "none"} : (tensor<2x3xf32>, tensor<1x1xi64>, tensor<1x3xf32>) -> tensor<2x3xf32>
  return %z : tensor<2x3xf32>
}

// CHECK-LABEL: @a_sum_is_no_write
// CHECK: tessera.scatter_nd
func.func @a_sum_is_no_write(%x: tensor<2x3xf32>, %a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %all = "tessera.const"() {value = dense<[[0], [1]]> : tensor<2x1xi64>} : () -> tensor<2x1xi64>
  %y = "tessera.scatter_nd"(%x, %all, %a) {reduction = "add"} : (tensor<2x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
