// RUN: tessera-opt %s --tessera-lower-to-apple_gpu-runtime --remarks --verify-diagnostics | filecheck %s

// Intents of attention that the program does not bear out: one warning each.

// CHECK-LABEL: func.func @f101_scores_by_another_op(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%q, %k)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_exp_f32(%s)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%exp)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%p, %v)
// CHECK-NEXT: func.return
func.func @f101_scores_by_another_op(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %exp = "tessera.exp"(%s) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%exp) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  // expected-warning @+1 {{[TSR-F101] intent 'matmul_softmax_matmul' is not what the program says: producer: found tessera.exp, wanted tessera.matmul; runs instead: the unfused ops}}
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @f102_weights_read_twice(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f32(%q, %k) {{{.*}}roles = ["a", "b"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%p, %v)
// CHECK-NEXT: func.return
func.func @f102_weights_read_twice(%q: tensor<6x8xf32>, %k: tensor<8x7xf32>, %v: tensor<7x5xf32>) -> (tensor<6x5xf32>, tensor<6x7xf32>) {
  %s = "tessera.matmul"(%q, %k) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<6x7xf32>) -> tensor<6x7xf32>
  // expected-warning @+1 {{[TSR-F102] intent 'matmul_softmax_matmul' is not what the program says: readers: found 1 more reader(s) of tessera.softmax, wanted none outside the chain; runs instead: matmul_softmax (rediscovered)}}
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<6x7xf32>, tensor<7x5xf32>) -> tensor<6x5xf32>
  return %o, %p : tensor<6x5xf32>, tensor<6x7xf32>
}

// CHECK-LABEL: func.func @f103_weights_on_the_right(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f32(%q, %k) {{{.*}}roles = ["a", "b"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%v, %p)
// CHECK-NEXT: func.return
func.func @f103_weights_on_the_right(%q: tensor<7x8xf32>, %k: tensor<8x5xf32>, %v: tensor<6x7xf32>) -> tensor<6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<7x8xf32>, tensor<8x5xf32>) -> tensor<7x5xf32>
  %p = "tessera.softmax"(%s) : (tensor<7x5xf32>) -> tensor<7x5xf32>
  // expected-warning @+1 {{[TSR-F103] intent 'matmul_softmax_matmul' is not what the program says: operand side: found tessera.softmax as operand 1 of tessera.matmul, wanted as operand 0; runs instead: matmul_softmax (rediscovered)}}
  %o = "tessera.matmul"(%v, %p) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<6x7xf32>, tensor<7x5xf32>) -> tensor<6x5xf32>
  return %o : tensor<6x5xf32>
}

// CHECK-LABEL: func.func @f104_softmax_of_columns(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%q, %k)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%s)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%p, %v)
// CHECK-NEXT: func.return
func.func @f104_softmax_of_columns(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s) {axis = 2 : i64} : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  // expected-warning @+1 {{[TSR-F104] intent 'matmul_softmax_matmul' is not what the program says: tessera.softmax axis: found axis = 2, wanted axis = -1; runs instead: the unfused ops}}
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @f105_v_transposed(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f32(%q, %k) {{{.*}}roles = ["a", "b"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%p, %v)
// CHECK-NEXT: func.return
func.func @f105_v_transposed(%q: tensor<6x8xf32>, %k: tensor<8x7xf32>, %v: tensor<5x7xf32>) -> tensor<6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<6x7xf32>) -> tensor<6x7xf32>
  // expected-warning @+1 {{[TSR-F105] intent 'matmul_softmax_matmul' is not what the program says: tessera.matmul transpose_b: found transpose_b = true, wanted transpose_b = false; runs instead: matmul_softmax (rediscovered)}}
  %o = "tessera.matmul"(%p, %v) {transpose_b = true, tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<6x7xf32>, tensor<5x7xf32>) -> tensor<6x5xf32>
  return %o : tensor<6x5xf32>
}

// CHECK-LABEL: func.func @f106_values_of_another_type(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f32(%q, %k) {{{.*}}roles = ["a", "b"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f64(%p, %v)
// CHECK-NEXT: func.return
func.func @f106_values_of_another_type(%q: tensor<6x8xf32>, %k: tensor<8x7xf32>, %v: tensor<7x5xf64>) -> tensor<6x5xf64> {
  %s = "tessera.matmul"(%q, %k) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<6x7xf32>) -> tensor<6x7xf32>
  // expected-warning @+1 {{[TSR-F106] intent 'matmul_softmax_matmul' is not what the program says: element type: found q f32, k f32, v f64, wanted one of f32, f16, bf16 for all; runs instead: matmul_softmax (rediscovered)}}
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<6x7xf32>, tensor<7x5xf64>) -> tensor<6x5xf64>
  return %o : tensor<6x5xf64>
}

// CHECK-LABEL: func.func @f107_v_is_a_vector(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f32(%q, %k) {{{.*}}roles = ["a", "b"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%p, %v)
// CHECK-NEXT: func.return
func.func @f107_v_is_a_vector(%q: tensor<6x8xf32>, %k: tensor<8x7xf32>, %v: tensor<7xf32>) -> tensor<6xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<6x7xf32>) -> tensor<6x7xf32>
  // expected-warning @+1 {{[TSR-F107] intent 'matmul_softmax_matmul' is not what the program says: rank: found operand b of 7, wanted at least 2 axes; runs instead: matmul_softmax (rediscovered)}}
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<6x7xf32>, tensor<7xf32>) -> tensor<6xf32>
  return %o : tensor<6xf32>
}

// CHECK-LABEL: func.func @f108_reshape_of_rows(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%q, %k)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_reshape_f32(%s)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%reshape)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_reshape_f32(%p)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%reshape1, %v)
// CHECK-NEXT: func.return
func.func @f108_reshape_of_rows(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %reshape = "tessera.reshape"(%s) : (tensor<2x4x6x7xf32>) -> tensor<2x4x42x1xf32>
  // expected-remark @+1 {{[TSR-F108] not fused as matmul_softmax: reshape in the chain: found 2x4x6x7 -> 2x4x42x1, wanted the last 2 axes unchanged}}
  %p = "tessera.softmax"(%reshape) : (tensor<2x4x42x1xf32>) -> tensor<2x4x42x1xf32>
  %reshape1 = "tessera.reshape"(%p) : (tensor<2x4x42x1xf32>) -> tensor<2x4x6x7xf32>
  // expected-warning @+1 {{[TSR-F108] intent 'matmul_softmax_matmul' is not what the program says: reshape in the chain: found 2x4x42x1 -> 2x4x6x7, wanted the last 2 axes unchanged; runs instead: the unfused ops}}
  %o = "tessera.matmul"(%reshape1, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @f109_no_such_kernel(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @f109_no_such_kernel(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  // expected-warning @+1 {{[TSR-F109] intent 'flash_softmax' is not what the program says: kernel name: found "flash_softmax", wanted matmul_softmax_matmul, matmul_rmsnorm, matmul_gelu, matmul_softmax; runs instead: matmul_softmax_matmul (rediscovered)}}
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "flash_softmax"} : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @f110_tanh_that_is_no_cap(
// CHECK: {{.*}}@tessera_apple_gpu_matmul_f32(%q, %k)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_tanh_f32(%s)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_mul_f32(%tanh, %minus)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%mul)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%p, %v)
// CHECK-NEXT: func.return
func.func @f110_tanh_that_is_no_cap(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %tanh = "tessera.tanh"(%s) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %minus = "tessera.const"() {value = dense<-2.000000e+00> : tensor<f32>} : () -> tensor<f32>
  %mul = "tessera.mul"(%tanh, %minus) : (tensor<2x4x6x7xf32>, tensor<f32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%mul) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  // expected-warning @+1 {{[TSR-F110] intent 'matmul_softmax_matmul' is not what the program says: softcap: found tanh without a positive constant factor after it, wanted cap * tanh(x / cap); runs instead: the unfused ops}}
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @f110_mask_before_a_scale_operand(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%q, %k)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_add_f32(%s, %mask)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_mul_f32(%s1, %by)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%s2)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%p, %v)
// CHECK-NEXT: func.return
func.func @f110_mask_before_a_scale_operand(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>, %mask: tensor<6x7xf32>, %by: tensor<f32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %s1 = "tessera.add"(%s, %mask) : (tensor<2x4x6x7xf32>, tensor<6x7xf32>) -> tensor<2x4x6x7xf32>
  %s2 = "tessera.mul"(%s1, %by) : (tensor<2x4x6x7xf32>, tensor<f32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s2) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  // expected-warning @+1 {{[TSR-F110] intent 'matmul_softmax_matmul' is not what the program says: mask: found a mask before a scale given at run time, wanted the mask last; runs instead: the unfused ops}}
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @f111_two_kinds_of_mask(
// CHECK: {{.*}}@tessera_apple_gpu_matmul_f32(%q, %k)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_select_f32(%keep, %s, %low)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_add_f32(%s1, %mask)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%s2)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%p, %v)
// CHECK-NEXT: func.return
func.func @f111_two_kinds_of_mask(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>, %keep: tensor<2x1x6x7xi1>, %mask: tensor<6x7xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %low = "tessera.const"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %s1 = "tessera.select"(%keep, %s, %low) : (tensor<2x1x6x7xi1>, tensor<2x4x6x7xf32>, tensor<f32>) -> tensor<2x4x6x7xf32>
  %s2 = "tessera.add"(%s1, %mask) : (tensor<2x4x6x7xf32>, tensor<6x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s2) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  // expected-warning @+1 {{[TSR-F111] intent 'matmul_softmax_matmul' is not what the program says: masks: found an additive and a boolean mask, wanted one mask; runs instead: the unfused ops}}
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @f111_mask_widens(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%q, %k)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_add_f32(%s, %mask)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%s1)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%p, %v)
// CHECK-NEXT: func.return
func.func @f111_mask_widens(%q: tensor<1x6x8xf32>, %k: tensor<1x8x7xf32>, %v: tensor<1x7x5xf32>, %mask: tensor<4x6x7xf32>) -> tensor<4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<1x6x8xf32>, tensor<1x8x7xf32>) -> tensor<1x6x7xf32>
  %s1 = "tessera.add"(%s, %mask) : (tensor<1x6x7xf32>, tensor<4x6x7xf32>) -> tensor<4x6x7xf32>
  %p = "tessera.softmax"(%s1) : (tensor<4x6x7xf32>) -> tensor<4x6x7xf32>
  // expected-warning @+1 {{[TSR-F111] intent 'matmul_softmax_matmul' is not what the program says: added operand: found 4x6x7 widens the product 1x6x7, wanted one that fits; runs instead: the unfused ops}}
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<4x6x7xf32>, tensor<1x7x5xf32>) -> tensor<4x6x5xf32>
  return %o : tensor<4x6x5xf32>
}

// CHECK-LABEL: func.func @f112_softmax_never_ends_it(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f32(%q, %k) {{{.*}}roles = ["a", "b"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @f112_softmax_never_ends_it(%q: tensor<6x8xf32>, %k: tensor<8x7xf32>) -> tensor<6x7xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  // expected-warning @+1 {{[TSR-F112] intent 'matmul_softmax_matmul' is not what the program says: terminal op: found tessera.softmax, wanted tessera.matmul; runs instead: matmul_softmax (rediscovered)}}
  %p = "tessera.softmax"(%s) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %p : tensor<6x7xf32>
}

// CHECK-LABEL: func.func @f114_another_intent_inside(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f32(%q, %k) {{{.*}}roles = ["a", "b"]{{.*}}tessera.fusion.source = "descriptor"
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%p, %v)
// CHECK-NEXT: func.return
func.func @f114_another_intent_inside(%q: tensor<6x8xf32>, %k: tensor<8x7xf32>, %v: tensor<7x5xf32>) -> tensor<6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %p = "tessera.softmax"(%s) {tessera.fusion.intent = "matmul_softmax"} : (tensor<6x7xf32>) -> tensor<6x7xf32>
  // expected-warning @+1 {{[TSR-F114] intent 'matmul_softmax_matmul' is not what the program says: intent: found tessera.softmax stamped "matmul_softmax", wanted no other intent inside; runs instead: matmul_softmax (descriptor)}}
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<6x7xf32>, tensor<7x5xf32>) -> tensor<6x5xf32>
  return %o : tensor<6x5xf32>
}

// CHECK-LABEL: func.func @k101_one_query_head_over_four(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f32(%q, %k) {{{.*}}roles = ["a", "b"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%p, %v)
// CHECK-NEXT: func.return
func.func @k101_one_query_head_over_four(%q: tensor<2x1x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x1x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  // expected-warning @+1 {{[TSR-K101] intent 'matmul_softmax_matmul' is not what the program says: grouped heads: found 1 query heads over 4 key heads, wanted a multiple; runs instead: matmul_softmax (rediscovered)}}
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @k103_softcap_of_zero(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_flash_attn_f32(%q, %k, %v)
// CHECK-NEXT: func.return
func.func @k103_softcap_of_zero(%q: tensor<2x4x6x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x5xf32>) -> tensor<2x4x6x5xf32> {
  // expected-warning @+1 {{[TSR-K103] 'tessera.flash_attn' is not fused as matmul_softmax_matmul: softcap: found softcap = 0.0, wanted a value above 0, or none}}
  %o = "tessera.flash_attn"(%q, %k, %v) {softcap = 0.000000e+00 : f64} : (tensor<2x4x6x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}
