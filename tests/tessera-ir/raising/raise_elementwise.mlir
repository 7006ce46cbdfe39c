// RUN: tessera-opt %s --tessera-raise-elementwise | filecheck %s

// CHECK-LABEL: @gelu_by_erf
// CHECK-NEXT: "tessera.gelu"(%{{.*}}) {approximate = "none"}
// CHECK-NEXT: func.return
func.func @gelu_by_erf(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %half = "tessera.const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %one = "tessera.const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %root = "tessera.const"() {value = dense<1.41421354> : tensor<f32>} : () -> tensor<f32>
  %a = "tessera.div"(%x, %root) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %b = "tessera.erf"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = "tessera.add"(%b, %one) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %d = "tessera.mul"(%half, %c) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = "tessera.mul"(%x, %d) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @silu_by_exp_with_its_note
// CHECK-NEXT: "tessera.silu"(%{{.*}}) {tessera.fusion.id = "a"}
func.func @silu_by_exp_with_its_note(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %one = "tessera.const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %n = "tessera.neg"(%x) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %e = "tessera.exp"(%n) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %d = "tessera.add"(%one, %e) : (tensor<f32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %y = "tessera.div"(%x, %d) {tessera.fusion.id = "a"} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %y : tensor<?x3xf32>
}

// CHECK-LABEL: @another_slope_stays
// CHECK: tessera.sigmoid
// CHECK-NOT: tessera.gelu
// CHECK: func.return
func.func @another_slope_stays(%x: tensor<3xf32>) -> tensor<3xf32> {
  %k = "tessera.const"() {value = dense<1.7> : tensor<f32>} : () -> tensor<f32>
  %a = "tessera.mul"(%x, %k) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %b = "tessera.sigmoid"(%a) : (tensor<3xf32>) -> tensor<3xf32>
  %y = "tessera.mul"(%x, %b) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// CHECK-LABEL: @a_millionth_off_stays
// CHECK-NEXT: tessera.const
// CHECK-NEXT: tessera.sigmoid
// CHECK-NEXT: tessera.add
func.func @a_millionth_off_stays(%x: tensor<3xf32>) -> tensor<3xf32> {
  %k = "tessera.const"() {value = dense<1.0e-06> : tensor<f32>} : () -> tensor<f32>
  %a = "tessera.sigmoid"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %y = "tessera.add"(%a, %k) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// CHECK-LABEL: @a_gate_of_another_value_stays
// CHECK: tessera.sigmoid
// CHECK-NEXT: tessera.mul
func.func @a_gate_of_another_value_stays(%x: tensor<3xf32>, %g: tensor<3xf32>) -> tensor<3xf32> {
  %a = "tessera.sigmoid"(%g) : (tensor<3xf32>) -> tensor<3xf32>
  %y = "tessera.mul"(%x, %a) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}
