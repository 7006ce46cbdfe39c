// RUN: tessera-opt %s --tessera-hoist-constants | filecheck %s

// CHECK-LABEL: @constants_stand_at_the_top_in_order_of_use
// CHECK-NEXT: %[[TWO:.*]] = "tessera.const"() {value = dense<2.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[ONE:.*]] = "tessera.const"() {value = dense<1.000000e+00> : tensor<f32>}
// CHECK-NEXT: %[[A:.*]] = "tessera.add"(%{{.*}}, %[[TWO]])
// CHECK-NEXT: "tessera.add"(%[[A]], %[[ONE]])
func.func @constants_stand_at_the_top_in_order_of_use(%x: tensor<f32>) -> tensor<f32> {
  %unused = "tessera.const"() {value = dense<9.0> : tensor<f32>} : () -> tensor<f32>
  %one = "tessera.const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %two = "tessera.const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %a = "tessera.add"(%x, %two) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %b = "tessera.add"(%a, %one) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %b : tensor<f32>
}

// CHECK-LABEL: @equal_constants_merge
// CHECK-NEXT: %[[K:.*]] = "tessera.const"
// CHECK-NEXT: "tessera.add"(%[[K]], %[[K]])
func.func @equal_constants_merge() -> tensor<f32> {
  %a = "tessera.const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %b = "tessera.const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %y = "tessera.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  func.return %y : tensor<f32>
}

// CHECK-LABEL: @constants_of_one_shape_and_other_values_stay
// CHECK-COUNT-3: tessera.const
func.func @constants_of_one_shape_and_other_values_stay() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a = "tessera.const"() {value = dense<[1.0, 0.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %b = "tessera.const"() {value = dense<[0.0, 1.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %c = "tessera.const"() {value = dense<[1.0, -0.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  func.return %a, %b, %c : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
