// RUN: tessera-opt %s --tessera-row-products | filecheck %s

// CHECK-LABEL: @weight_times_column
// CHECK: %[[ROW:.*]] = "tessera.reshape"(%x) : (tensor<5x2x1xf32>) -> tensor<5x1x2xf32>
// CHECK: %[[P:.*]] = "tessera.matmul"(%[[ROW]], %{{.*}}) {transpose_b = true} : (tensor<5x1x2xf32>, tensor<3x2xf32>) -> tensor<5x1x3xf32>
// CHECK: "tessera.reshape"(%[[P]]) : (tensor<5x1x3xf32>) -> tensor<5x3x1xf32>
func.func @weight_times_column(%x: tensor<5x2x1xf32>) -> tensor<5x3x1xf32> {
  %w = "tessera.const"() {value = dense<1.0> : tensor<3x2xf32>} : () -> tensor<3x2xf32>
  %y = "tessera.matmul"(%w, %x) : (tensor<3x2xf32>, tensor<5x2x1xf32>) -> tensor<5x3x1xf32>
  return %y : tensor<5x3x1xf32>
}

// CHECK-LABEL: @gathered_weights
// CHECK: "tessera.matmul"(%{{.*}}, %picked) {transpose_b = true}
func.func @gathered_weights(%x: tensor<4x2x1xf32>, %i: tensor<4xi64>) -> tensor<4x3x1xf32> {
  %w = "tessera.const"() {value = dense<1.0> : tensor<2x3x2xf32>} : () -> tensor<2x3x2xf32>
  %picked = "tessera.gather"(%w, %i) {axis = 0 : i64} : (tensor<2x3x2xf32>, tensor<4xi64>) -> tensor<4x3x2xf32>
  %y = "tessera.matmul"(%picked, %x) : (tensor<4x3x2xf32>, tensor<4x2x1xf32>) -> tensor<4x3x1xf32>
  return %y : tensor<4x3x1xf32>
}

// CHECK-LABEL: @column_of_a_weight
// CHECK: "tessera.matmul"(%x, %w) :
func.func @column_of_a_weight(%x: tensor<5x2xf32>) -> tensor<5x1xf32> {
  %w = "tessera.const"() {value = dense<1.0> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %y = "tessera.matmul"(%x, %w) : (tensor<5x2xf32>, tensor<2x1xf32>) -> tensor<5x1xf32>
  return %y : tensor<5x1xf32>
}

// CHECK-LABEL: @activations_on_both_sides
// CHECK: "tessera.matmul"(%a, %x) :
func.func @activations_on_both_sides(%a: tensor<3x2xf32>, %x: tensor<2x1xf32>) -> tensor<3x1xf32> {
  %y = "tessera.matmul"(%a, %x) : (tensor<3x2xf32>, tensor<2x1xf32>) -> tensor<3x1xf32>
  return %y : tensor<3x1xf32>
}
