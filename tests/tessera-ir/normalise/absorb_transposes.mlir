// RUN: tessera-opt %s --tessera-absorb-transposes | filecheck %s

// CHECK-LABEL: @a_swap_becomes_a_flag
// CHECK-NEXT: "tessera.matmul"(%{{.*}}, %{{.*}}) {transpose_a = false, transpose_b = true} : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
func.func @a_swap_becomes_a_flag(%x: tensor<2x4xf32>, %k: tensor<8x4xf32>) -> tensor<2x8xf32> {
  %t = "tessera.transpose"(%k) {permutation = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %y = "tessera.matmul"(%x, %t) : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
  func.return %y : tensor<2x8xf32>
}

// CHECK-LABEL: @a_swap_and_a_flag_undo_each_other
// CHECK: {transpose_a = false, transpose_b = false, tessera.fusion.intent = "matmul_softmax"}
func.func @a_swap_and_a_flag_undo_each_other(%x: tensor<3x2x4xf32>, %k: tensor<3x4x8xf32>) -> tensor<3x2x8xf32> {
  %t = "tessera.transpose"(%k) {permutation = array<i64: 0, 2, 1>} : (tensor<3x4x8xf32>) -> tensor<3x8x4xf32>
  %y = "tessera.matmul"(%x, %t) {transpose_b = true, tessera.fusion.intent = "matmul_softmax"} : (tensor<3x2x4xf32>, tensor<3x8x4xf32>) -> tensor<3x2x8xf32>
  func.return %y : tensor<3x2x8xf32>
}

// CHECK-LABEL: @a_swap_with_a_move_stays
// CHECK: tessera.transpose
func.func @a_swap_with_a_move_stays(%x: tensor<1x3x2x4xf32>, %k: tensor<1x8x3x4xf32>) -> tensor<1x3x2x8xf32> {
  %t = "tessera.transpose"(%k) {permutation = array<i64: 0, 2, 3, 1>} : (tensor<1x8x3x4xf32>) -> tensor<1x3x4x8xf32>
  %y = "tessera.matmul"(%x, %t) : (tensor<1x3x2x4xf32>, tensor<1x3x4x8xf32>) -> tensor<1x3x2x8xf32>
  func.return %y : tensor<1x3x2x8xf32>
}

// CHECK-LABEL: @a_weight_read_transposed_is_stored_so
// CHECK: tessera.const{{.*}}3.000000e+00], [2.000000e+00{{.*}}tensor<3x2xf32>
// CHECK: transpose_b = false
func.func @a_weight_read_transposed_is_stored_so(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = "tessera.const"() {value = dense<[[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %y = "tessera.matmul"(%x, %w) {transpose_b = true} : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}

// CHECK-LABEL: @a_weight_with_other_readers_keeps_its_flag
// CHECK: transpose_b = true
func.func @a_weight_with_other_readers_keeps_its_flag(%x: tensor<4x3xf32>, %i: tensor<1xi64>) -> (tensor<4x2xf32>, tensor<1x3xf32>) {
  %w = "tessera.const"() {value = dense<[[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %y = "tessera.matmul"(%x, %w) {transpose_b = true} : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x2xf32>
  %r = "tessera.gather"(%w, %i) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<1x3xf32>
  func.return %y, %r : tensor<4x2xf32>, tensor<1x3xf32>
}
