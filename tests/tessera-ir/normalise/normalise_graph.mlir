// RUN: tessera-opt %s --tessera-normalise-graph | filecheck %s
// RUN: tessera-opt %s --tessera-normalise-graph --tessera-normalise-graph | filecheck %s

// CHECK-LABEL: @one_spelling
// CHECK-NEXT: %[[W:.*]] = "tessera.const"() {value = dense<{{\[\[}}1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>}
// CHECK-NEXT: %[[H:.*]] = "tessera.matmul"(%{{.*}}, %[[W]]) {transpose_a = false, transpose_b = false}
// CHECK-NEXT: %[[S:.*]] = "tessera.softmax"(%[[H]]) {axis = -1 : i64}
// CHECK-NEXT: func.return %[[S]]
func.func @one_spelling(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %dead = "tessera.neg"(%x) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %w = "tessera.const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %one = "tessera.const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %scale = "tessera.mul"(%one, %one) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %t = "tessera.transpose"(%w) {permutation = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %h = "tessera.matmul"(%x, %t) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %m = "tessera.mul"(%h, %scale) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %y = "tessera.softmax"(%m) {axis = 1 : i64} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}
