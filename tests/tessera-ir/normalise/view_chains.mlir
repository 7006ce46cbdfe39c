// RUN: tessera-opt %s --tessera-drop-identities --dce | filecheck %s

// CHECK-LABEL: @a_swap_in_folded_heads
// CHECK-NEXT: "tessera.transpose"(%k) {permutation = array<i64: 0, 1, 3, 2>} : (tensor<2x3x5x7xf32>) -> tensor<2x3x7x5xf32>
// CHECK-NEXT: return
func.func @a_swap_in_folded_heads(%k: tensor<2x3x5x7xf32>) -> tensor<2x3x7x5xf32> {
  %a = "tessera.reshape"(%k) : (tensor<2x3x5x7xf32>) -> tensor<6x5x7xf32>
  %b = "tessera.transpose"(%a) {permutation = array<i64: 0, 2, 1>} : (tensor<6x5x7xf32>) -> tensor<6x7x5xf32>
  %c = "tessera.reshape"(%b) : (tensor<6x7x5xf32>) -> tensor<2x3x7x5xf32>
  return %c : tensor<2x3x7x5xf32>
}

// CHECK-LABEL: @a_split_axis_stays
// CHECK: tessera.reshape
// CHECK: tessera.transpose
// CHECK: tessera.reshape
func.func @a_split_axis_stays(%x: tensor<6x5xf32>) -> tensor<6x5xf32> {
  %a = "tessera.reshape"(%x) : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  %b = "tessera.transpose"(%a) {permutation = array<i64: 1, 0, 2>} : (tensor<2x3x5xf32>) -> tensor<3x2x5xf32>
  %c = "tessera.reshape"(%b) : (tensor<3x2x5xf32>) -> tensor<6x5xf32>
  return %c : tensor<6x5xf32>
}

// CHECK-LABEL: @equal_transposes_are_hoisted
// CHECK: %[[JOINED:.*]] = "tessera.concat"(%a, %b) {axis = 1 : i64}
// CHECK: "tessera.transpose"(%[[JOINED]]) {permutation = array<i64: 1, 0>}
func.func @equal_transposes_are_hoisted(%a: tensor<4x2xf32>, %b: tensor<4x3xf32>) -> tensor<5x4xf32> {
  %x = "tessera.transpose"(%a) {permutation = array<i64: 1, 0>} : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %y = "tessera.transpose"(%b) {permutation = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %z = "tessera.concat"(%x, %y) {axis = 0 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  return %z : tensor<5x4xf32>
}

// CHECK-LABEL: @one_of_two_is_turned
// CHECK: "tessera.transpose"(%a)
// CHECK: "tessera.concat"
func.func @one_of_two_is_turned(%a: tensor<4x2xf32>, %b: tensor<3x4xf32>) -> tensor<5x4xf32> {
  %x = "tessera.transpose"(%a) {permutation = array<i64: 1, 0>} : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %z = "tessera.concat"(%x, %b) {axis = 0 : i64} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
  return %z : tensor<5x4xf32>
}
