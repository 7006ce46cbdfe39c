// RUN: tessera-opt %s --tessera-split-products | filecheck %s

// CHECK-LABEL: @a_normed_part
// CHECK-DAG: "tessera.matmul"(%x, %{{.*}}) {transpose_a = false} : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
// CHECK-DAG: "tessera.matmul"(%x, %{{.*}}) {transpose_a = false} : (tensor<3x2xf32>, tensor<2x1xf32>) -> tensor<3x1xf32>
// CHECK-NOT: tessera.slice
func.func @a_normed_part(%x: tensor<3x2xf32>) -> (tensor<3x4xf32>, tensor<3x1xf32>) {
  %w = "tessera.const"() {value = dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]]> : tensor<2x5xf32>} : () -> tensor<2x5xf32>
  %p = "tessera.matmul"(%x, %w) : (tensor<3x2xf32>, tensor<2x5xf32>) -> tensor<3x5xf32>
  %c = "tessera.slice"(%p) {starts = array<i64: 0, 0>, stops = array<i64: 3, 4>, steps = array<i64: 1, 1>} : (tensor<3x5xf32>) -> tensor<3x4xf32>
  %r = "tessera.slice"(%p) {starts = array<i64: 0, 4>, stops = array<i64: 3, 5>, steps = array<i64: 1, 1>} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  %n = "tessera.rmsnorm"(%c) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %n, %r : tensor<3x4xf32>, tensor<3x1xf32>
}

// CHECK-LABEL: @no_part_is_normed
// CHECK: "tessera.matmul"(%x, %w)
// CHECK: tessera.slice
func.func @no_part_is_normed(%x: tensor<3x2xf32>) -> (tensor<3x4xf32>, tensor<3x1xf32>) {
  %w = "tessera.const"() {value = dense<1.0> : tensor<2x5xf32>} : () -> tensor<2x5xf32>
  %p = "tessera.matmul"(%x, %w) : (tensor<3x2xf32>, tensor<2x5xf32>) -> tensor<3x5xf32>
  %c = "tessera.slice"(%p) {starts = array<i64: 0, 0>, stops = array<i64: 3, 4>, steps = array<i64: 1, 1>} : (tensor<3x5xf32>) -> tensor<3x4xf32>
  %r = "tessera.slice"(%p) {starts = array<i64: 0, 4>, stops = array<i64: 3, 5>, steps = array<i64: 1, 1>} : (tensor<3x5xf32>) -> tensor<3x1xf32>
  return %c, %r : tensor<3x4xf32>, tensor<3x1xf32>
}

// CHECK-LABEL: @the_whole_is_read_too
// CHECK: "tessera.matmul"(%x, %w)
// CHECK: tessera.slice
func.func @the_whole_is_read_too(%x: tensor<3x2xf32>) -> (tensor<3x4xf32>, tensor<3x5xf32>) {
  %w = "tessera.const"() {value = dense<1.0> : tensor<2x5xf32>} : () -> tensor<2x5xf32>
  %p = "tessera.matmul"(%x, %w) : (tensor<3x2xf32>, tensor<2x5xf32>) -> tensor<3x5xf32>
  %c = "tessera.slice"(%p) {starts = array<i64: 0, 0>, stops = array<i64: 3, 4>, steps = array<i64: 1, 1>} : (tensor<3x5xf32>) -> tensor<3x4xf32>
  %n = "tessera.rmsnorm"(%c) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %n, %p : tensor<3x4xf32>, tensor<3x5xf32>
}
