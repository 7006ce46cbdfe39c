// RUN: tessera-opt %s --tessera-write-defaults | filecheck %s

// CHECK-LABEL: @absent_defaults_are_written
// CHECK: "tessera.softmax"(%{{.*}}) {axis = -1 : i64}
// CHECK: "tessera.gelu"(%{{.*}}) {approximate = "none"}
// CHECK: "tessera.rmsnorm"(%{{.*}}) {axis = -1 : i64, eps = 1.000000e-05 : f64, weight_offset = 0.000000e+00 : f64}
func.func @absent_defaults_are_written(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = "tessera.softmax"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = "tessera.gelu"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = "tessera.rmsnorm"(%b) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %c : tensor<2x3xf32>
}

// CHECK-LABEL: @axes_have_one_spelling
// CHECK: {axis = -1 : i64}
// CHECK: {axis = 0 : i64}
// CHECK: {axes = array<i64: 0, -1>, keepdims = false}
func.func @axes_have_one_spelling(%x: tensor<2x3xf32>) -> tensor<f32> {
  %a = "tessera.softmax"(%x) {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = "tessera.softmax"(%a) {axis = -2 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = "tessera.reduce_sum"(%b) {axes = [-1, 0]} : (tensor<2x3xf32>) -> tensor<f32>
  func.return %c : tensor<f32>
}

// CHECK-LABEL: @flags_are_booleans_and_notes_come_last
// CHECK: {transpose_a = false, transpose_b = true, tessera.fusion.intent = "matmul_gelu"}
func.func @flags_are_booleans_and_notes_come_last(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) -> tensor<2x4xf32> {
  %y = "tessera.matmul"(%x, %w) {tessera.fusion.intent = "matmul_gelu", transpose_b} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

// CHECK-LABEL: @a_scale_that_follows_the_shapes_stays_absent
// CHECK: "tessera.flash_attn"(%{{.*}}) {causal = "top_left"}
func.func @a_scale_that_follows_the_shapes_stays_absent(%q: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %y = "tessera.flash_attn"(%q, %q, %q) {causal = true} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  func.return %y : tensor<2x4x8xf32>
}
