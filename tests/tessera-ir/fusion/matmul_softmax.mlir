// RUN: tessera-opt %s --tessera-lower-to-apple_gpu-runtime --remarks --verify-diagnostics | filecheck %s

// softmax(mask(scale · A B)): every option, every refusal.

// What the kernel honours.

// CHECK-LABEL: func.func @plain(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f32(%a, %b) {{{.*}}roles = ["a", "b"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @plain(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>) -> tensor<6x7xf32> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %o = "tessera.softmax"(%s) : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o : tensor<6x7xf32>
}

// CHECK-LABEL: func.func @intent_is_honoured(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f32(%a, %b) {{{.*}}roles = ["a", "b"]{{.*}}tessera.fusion.source = "descriptor"
// CHECK-NEXT: func.return
func.func @intent_is_honoured(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>) -> tensor<6x7xf32> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %o = "tessera.softmax"(%s) {tessera.fusion.intent = "matmul_softmax"} : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o : tensor<6x7xf32>
}

// CHECK-LABEL: func.func @scale(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f32(%a, %b) {{{.*}}roles = ["a", "b"], scale = 2.500000e-01 : f64{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @scale(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>) -> tensor<6x7xf32> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %scale = "tessera.const"() {value = dense<2.500000e-01> : tensor<f32>} : () -> tensor<f32>
  %s1 = "tessera.mul"(%s, %scale) : (tensor<6x7xf32>, tensor<f32>) -> tensor<6x7xf32>
  %o = "tessera.softmax"(%s1) : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o : tensor<6x7xf32>
}

// CHECK-LABEL: func.func @scale_as_an_operand(
// CHECK: {{.*}}@tessera_apple_gpu_div_f32(%0, %by)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f32(%a, %b, %1) {{{.*}}roles = ["a", "b", "scale"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @scale_as_an_operand(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>, %by: tensor<f32>) -> tensor<6x7xf32> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %s1 = "tessera.div"(%s, %by) : (tensor<6x7xf32>, tensor<f32>) -> tensor<6x7xf32>
  %o = "tessera.softmax"(%s1) : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o : tensor<6x7xf32>
}

// CHECK-LABEL: func.func @additive_mask(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f32(%a, %b, %mask) {{{.*}}roles = ["a", "b", "mask"], scale = 2.500000e-01 : f64{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @additive_mask(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>, %mask: tensor<7xf32>) -> tensor<6x7xf32> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %scale = "tessera.const"() {value = dense<2.500000e-01> : tensor<f32>} : () -> tensor<f32>
  %s1 = "tessera.mul"(%s, %scale) : (tensor<6x7xf32>, tensor<f32>) -> tensor<6x7xf32>
  %s2 = "tessera.add"(%mask, %s1) : (tensor<7xf32>, tensor<6x7xf32>) -> tensor<6x7xf32>
  %o = "tessera.softmax"(%s2) : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o : tensor<6x7xf32>
}

// CHECK-LABEL: func.func @boolean_mask(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f32(%a, %b, %keep) {mask_fill = -1.000000e+04 : f64{{.*}}roles = ["a", "b", "mask"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @boolean_mask(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>, %keep: tensor<6x7xi1>) -> tensor<6x7xf32> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %low = "tessera.const"() {value = dense<-1.000000e+04> : tensor<f32>} : () -> tensor<f32>
  %s1 = "tessera.select"(%keep, %s, %low) : (tensor<6x7xi1>, tensor<6x7xf32>, tensor<f32>) -> tensor<6x7xf32>
  %o = "tessera.softmax"(%s1) : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o : tensor<6x7xf32>
}

// CHECK-LABEL: func.func @b_by_rows(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f32(%a, %b) {{{.*}}roles = ["a", "b"]{{.*}}tessera.fusion.source = "rediscovered", transpose_b = true
// CHECK-NEXT: func.return
func.func @b_by_rows(%a: tensor<6x8xf32>, %b: tensor<7x8xf32>) -> tensor<6x7xf32> {
  %s = "tessera.matmul"(%a, %b) {transpose_b = true} : (tensor<6x8xf32>, tensor<7x8xf32>) -> tensor<6x7xf32>
  %o = "tessera.softmax"(%s) : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o : tensor<6x7xf32>
}

// CHECK-LABEL: func.func @narrow(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f16(%a, %b) {{{.*}}roles = ["a", "b"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @narrow(%a: tensor<6x8xf16>, %b: tensor<8x7xf16>) -> tensor<6x7xf16> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf16>, tensor<8x7xf16>) -> tensor<6x7xf16>
  %o = "tessera.softmax"(%s) : (tensor<6x7xf16>) -> tensor<6x7xf16>
  return %o : tensor<6x7xf16>
}

// What it refuses.

// CHECK-LABEL: func.func @f101_another_op_between(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%a, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_exp_f32(%s)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%exp)
// CHECK-NEXT: func.return
func.func @f101_another_op_between(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>) -> tensor<6x7xf32> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %exp = "tessera.exp"(%s) : (tensor<6x7xf32>) -> tensor<6x7xf32>
  // expected-warning @+1 {{[TSR-F101] intent 'matmul_softmax' is not what the program says: producer: found tessera.exp, wanted tessera.matmul; runs instead: the unfused ops}}
  %o = "tessera.softmax"(%exp) {tessera.fusion.intent = "matmul_softmax"} : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o : tensor<6x7xf32>
}

// CHECK-LABEL: func.func @f102_scores_read_twice(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%a, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%s)
// CHECK-NEXT: func.return
func.func @f102_scores_read_twice(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>) -> (tensor<6x7xf32>, tensor<6x7xf32>) {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  // expected-warning @+1 {{[TSR-F102] intent 'matmul_softmax' is not what the program says: readers: found 1 more reader(s) of tessera.matmul, wanted none outside the chain; runs instead: the unfused ops}}
  %o = "tessera.softmax"(%s) {tessera.fusion.intent = "matmul_softmax"} : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o, %s : tensor<6x7xf32>, tensor<6x7xf32>
}

// CHECK-LABEL: func.func @f104_softmax_of_columns(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%a, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%s)
// CHECK-NEXT: func.return
func.func @f104_softmax_of_columns(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>) -> tensor<6x7xf32> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  // expected-warning @+1 {{[TSR-F104] intent 'matmul_softmax' is not what the program says: tessera.softmax axis: found axis = 0, wanted axis = -1; runs instead: the unfused ops}}
  %o = "tessera.softmax"(%s) {axis = 0 : i64, tessera.fusion.intent = "matmul_softmax"} : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o : tensor<6x7xf32>
}

// CHECK-LABEL: func.func @f105_a_transposed(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%a, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%s)
// CHECK-NEXT: func.return
func.func @f105_a_transposed(%a: tensor<8x6xf32>, %b: tensor<8x7xf32>) -> tensor<6x7xf32> {
  %s = "tessera.matmul"(%a, %b) {transpose_a = true} : (tensor<8x6xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  // expected-warning @+1 {{[TSR-F105] intent 'matmul_softmax' is not what the program says: tessera.matmul transpose_a: found transpose_a = true, wanted transpose_a = false; runs instead: the unfused ops}}
  %o = "tessera.softmax"(%s) {tessera.fusion.intent = "matmul_softmax"} : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o : tensor<6x7xf32>
}

// CHECK-LABEL: func.func @f106_no_kernel_for_f64(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f64(%a, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f64(%s)
// CHECK-NEXT: func.return
func.func @f106_no_kernel_for_f64(%a: tensor<6x8xf64>, %b: tensor<8x7xf64>) -> tensor<6x7xf64> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf64>, tensor<8x7xf64>) -> tensor<6x7xf64>
  // expected-warning @+1 {{[TSR-F106] intent 'matmul_softmax' is not what the program says: element type: found f64, wanted one of f32, f16, bf16 for all; runs instead: the unfused ops}}
  %o = "tessera.softmax"(%s) {tessera.fusion.intent = "matmul_softmax"} : (tensor<6x7xf64>) -> tensor<6x7xf64>
  return %o : tensor<6x7xf64>
}

// CHECK-LABEL: func.func @f107_a_is_a_vector(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%a, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%s)
// CHECK-NEXT: func.return
func.func @f107_a_is_a_vector(%a: tensor<8xf32>, %b: tensor<8x7xf32>) -> tensor<7xf32> {
  %s = "tessera.matmul"(%a, %b) : (tensor<8xf32>, tensor<8x7xf32>) -> tensor<7xf32>
  // expected-warning @+1 {{[TSR-F107] intent 'matmul_softmax' is not what the program says: rank: found operand a of 8, wanted at least 2 axes; runs instead: the unfused ops}}
  %o = "tessera.softmax"(%s) {tessera.fusion.intent = "matmul_softmax"} : (tensor<7xf32>) -> tensor<7xf32>
  return %o : tensor<7xf32>
}

// CHECK-LABEL: func.func @f108_reshape_of_rows(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%a, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_reshape_f32(%s)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%reshape)
// CHECK-NEXT: func.return
func.func @f108_reshape_of_rows(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>) -> tensor<7x6xf32> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %reshape = "tessera.reshape"(%s) : (tensor<6x7xf32>) -> tensor<7x6xf32>
  // expected-warning @+1 {{[TSR-F108] intent 'matmul_softmax' is not what the program says: reshape in the chain: found 6x7 -> 7x6, wanted the last 2 axes unchanged; runs instead: the unfused ops}}
  %o = "tessera.softmax"(%reshape) {tessera.fusion.intent = "matmul_softmax"} : (tensor<7x6xf32>) -> tensor<7x6xf32>
  return %o : tensor<7x6xf32>
}

// CHECK-LABEL: func.func @f110_two_scale_operands(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%a, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_mul_f32(%s, %by)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_mul_f32(%s1, %and_by)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%s2)
// CHECK-NEXT: func.return
func.func @f110_two_scale_operands(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>, %by: tensor<f32>, %and_by: tensor<f32>) -> tensor<6x7xf32> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %s1 = "tessera.mul"(%s, %by) : (tensor<6x7xf32>, tensor<f32>) -> tensor<6x7xf32>
  %s2 = "tessera.mul"(%s1, %and_by) : (tensor<6x7xf32>, tensor<f32>) -> tensor<6x7xf32>
  // expected-warning @+1 {{[TSR-F110] intent 'matmul_softmax' is not what the program says: scale: found a second scale operand, wanted one; runs instead: the unfused ops}}
  %o = "tessera.softmax"(%s2) {tessera.fusion.intent = "matmul_softmax"} : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o : tensor<6x7xf32>
}

// CHECK-LABEL: func.func @f111_mask_widens(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%a, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_add_f32(%s, %mask)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%add)
// CHECK-NEXT: func.return
func.func @f111_mask_widens(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>, %mask: tensor<2x6x7xf32>) -> tensor<2x6x7xf32> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %add = "tessera.add"(%s, %mask) : (tensor<6x7xf32>, tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  // expected-warning @+1 {{[TSR-F111] intent 'matmul_softmax' is not what the program says: added operand: found 2x6x7 widens the product 6x7, wanted one that fits; runs instead: the unfused ops}}
  %o = "tessera.softmax"(%add) {tessera.fusion.intent = "matmul_softmax"} : (tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  return %o : tensor<2x6x7xf32>
}

// CHECK-LABEL: func.func @f101_softcap_is_not_its_own(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%a, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_tanh_f32(%s)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%tanh)
// CHECK-NEXT: func.return
func.func @f101_softcap_is_not_its_own(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>) -> tensor<6x7xf32> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %tanh = "tessera.tanh"(%s) : (tensor<6x7xf32>) -> tensor<6x7xf32>
  // expected-warning @+1 {{[TSR-F101] intent 'matmul_softmax' is not what the program says: producer: found tessera.tanh, wanted tessera.matmul; runs instead: the unfused ops}}
  %o = "tessera.softmax"(%tanh) {tessera.fusion.intent = "matmul_softmax"} : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o : tensor<6x7xf32>
}

// A remark where no intent asked.

// CHECK-LABEL: func.func @near_miss_is_a_remark(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%a, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%s)
// CHECK-NEXT: func.return
func.func @near_miss_is_a_remark(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>) -> tensor<6x7xf32> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  // expected-remark @+1 {{[TSR-F104] not fused as matmul_softmax: tessera.softmax axis: found axis = 0, wanted axis = -1}}
  %o = "tessera.softmax"(%s) {axis = 0 : i64} : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o : tensor<6x7xf32>
}

// No mark: nothing near.

// CHECK-LABEL: func.func @softmax_of_an_argument_is_none(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%x)
// CHECK-NEXT: func.return
func.func @softmax_of_an_argument_is_none(%x: tensor<3x6xf32>) -> tensor<3x6xf32> {
  %o = "tessera.softmax"(%x) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @sigmoid_is_none(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%a, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_sigmoid_f32(%h)
// CHECK-NEXT: func.return
func.func @sigmoid_is_none(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>) -> tensor<6x7xf32> {
  %h = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %o = "tessera.sigmoid"(%h) : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o : tensor<6x7xf32>
}
