// RUN: tessera-opt %s --tessera-raise-rope | filecheck %s

// CHECK-LABEL: @rotated_halves
// CHECK-NEXT: "tessera.rope"(%{{.*}}) {style = "half"}
// CHECK-NEXT: func.return
func.func @rotated_halves(%x: tensor<2x3x8xf32>, %cos: tensor<3x8xf32>, %sin: tensor<3x8xf32>) -> tensor<2x3x8xf32> {
  %x1 = "tessera.slice"(%x) {starts = [0, 0, 0], stops = [2, 3, 4], steps = [1, 1, 1]} : (tensor<2x3x8xf32>) -> tensor<2x3x4xf32>
  %x2 = "tessera.slice"(%x) {starts = [0, 0, 4], stops = [2, 3, 8], steps = [1, 1, 1]} : (tensor<2x3x8xf32>) -> tensor<2x3x4xf32>
  %n = "tessera.neg"(%x2) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %r = "tessera.concat"(%n, %x1) {axis = -1} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
  %a = "tessera.mul"(%x, %cos) : (tensor<2x3x8xf32>, tensor<3x8xf32>) -> tensor<2x3x8xf32>
  %b = "tessera.mul"(%r, %sin) : (tensor<2x3x8xf32>, tensor<3x8xf32>) -> tensor<2x3x8xf32>
  %y = "tessera.add"(%a, %b) : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  func.return %y : tensor<2x3x8xf32>
}

// CHECK-LABEL: @a_turn_without_its_sign_stays
// CHECK-NOT: tessera.rope
// CHECK: func.return
func.func @a_turn_without_its_sign_stays(%x: tensor<2x3x8xf32>, %cos: tensor<3x8xf32>, %sin: tensor<3x8xf32>) -> tensor<2x3x8xf32> {
  %x1 = "tessera.slice"(%x) {starts = [0, 0, 0], stops = [2, 3, 4], steps = [1, 1, 1]} : (tensor<2x3x8xf32>) -> tensor<2x3x4xf32>
  %x2 = "tessera.slice"(%x) {starts = [0, 0, 4], stops = [2, 3, 8], steps = [1, 1, 1]} : (tensor<2x3x8xf32>) -> tensor<2x3x4xf32>
  %r = "tessera.concat"(%x2, %x1) {axis = -1} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
  %a = "tessera.mul"(%x, %cos) : (tensor<2x3x8xf32>, tensor<3x8xf32>) -> tensor<2x3x8xf32>
  %b = "tessera.mul"(%r, %sin) : (tensor<2x3x8xf32>, tensor<3x8xf32>) -> tensor<2x3x8xf32>
  %y = "tessera.add"(%a, %b) : (tensor<2x3x8xf32>, tensor<2x3x8xf32>) -> tensor<2x3x8xf32>
  func.return %y : tensor<2x3x8xf32>
}

// CHECK-LABEL: @two_halves
// CHECK: %[[C:.*]] = "tessera.concat"(%[[H:.*]], %[[H]]) {axis = -1
// CHECK: "tessera.rope"(%{{.*}}, %[[C]], %{{.*}}) {style = "half"}
// CHECK-NEXT: func.return
func.func @two_halves(%x: tensor<2x3x8xf32>, %c: tensor<3x4xf32>, %s: tensor<3x4xf32>) -> tensor<2x3x8xf32> {
  %x1 = "tessera.slice"(%x) {starts = [0, 0, 0], stops = [2, 3, 4], steps = [1, 1, 1]} : (tensor<2x3x8xf32>) -> tensor<2x3x4xf32>
  %x2 = "tessera.slice"(%x) {starts = [0, 0, 4], stops = [2, 3, 8], steps = [1, 1, 1]} : (tensor<2x3x8xf32>) -> tensor<2x3x4xf32>
  %a = "tessera.mul"(%x1, %c) : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  %b = "tessera.mul"(%x2, %s) : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  %low = "tessera.sub"(%a, %b) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %d = "tessera.mul"(%x2, %c) : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  %e = "tessera.mul"(%x1, %s) : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  %high = "tessera.add"(%d, %e) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %y = "tessera.concat"(%low, %high) {axis = 2 : i64} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x8xf32>
  func.return %y : tensor<2x3x8xf32>
}
