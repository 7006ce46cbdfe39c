// RUN: tessera-opt %s --tessera-lower-to-apple_gpu-runtime --remarks --verify-diagnostics | filecheck %s

// softmax(mask(cap(scale · Q Kᵀ))) V: every option, a near miss, and what is none.

// What the kernel honours.

// CHECK-LABEL: func.func @plain_is_rediscovered(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @plain_is_rediscovered(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %o = "tessera.matmul"(%p, %v) : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @intent_is_honoured(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"]{{.*}}tessera.fusion.source = "descriptor"
// CHECK-NEXT: func.return
func.func @intent_is_honoured(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @k_read_by_rows(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"]{{.*}}tessera.fusion.source = "rediscovered", transpose_b = true
// CHECK-NEXT: func.return
func.func @k_read_by_rows(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x7x8xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) {transpose_b = true} : (tensor<2x4x6x8xf32>, tensor<2x4x7x8xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %o = "tessera.matmul"(%p, %v) : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @scale_and_additive_mask(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v, %mask) {{{.*}}roles = ["q", "k", "v", "mask"], scale = 2.500000e-01 : f64{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @scale_and_additive_mask(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>, %mask: tensor<6x7xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %scale = "tessera.const"() {value = dense<2.500000e-01> : tensor<f32>} : () -> tensor<f32>
  %s1 = "tessera.mul"(%s, %scale) : (tensor<2x4x6x7xf32>, tensor<f32>) -> tensor<2x4x6x7xf32>
  %s2 = "tessera.add"(%s1, %mask) : (tensor<2x4x6x7xf32>, tensor<6x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s2) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %o = "tessera.matmul"(%p, %v) : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @scale_as_an_operand(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v, %by) {{{.*}}roles = ["q", "k", "v", "scale"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @scale_as_an_operand(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>, %by: tensor<f32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %s1 = "tessera.mul"(%by, %s) : (tensor<f32>, tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s1) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %o = "tessera.matmul"(%p, %v) : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @boolean_mask_keeps(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v, %keep) {{{.*}}roles = ["q", "k", "v", "mask"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @boolean_mask_keeps(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>, %keep: tensor<2x1x6x7xi1>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %low = "tessera.const"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %s1 = "tessera.select"(%keep, %s, %low) : (tensor<2x1x6x7xi1>, tensor<2x4x6x7xf32>, tensor<f32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s1) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %o = "tessera.matmul"(%p, %v) : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @boolean_mask_drops_to_a_number(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_not_i1(%drop)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v, %0) {{{.*}}mask_fill = -1.000000e+04 : f64{{.*}}roles = ["q", "k", "v", "mask"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @boolean_mask_drops_to_a_number(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>, %drop: tensor<6x7xi1>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %low = "tessera.const"() {value = dense<-1.000000e+04> : tensor<f32>} : () -> tensor<f32>
  %s1 = "tessera.select"(%drop, %low, %s) : (tensor<6x7xi1>, tensor<f32>, tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s1) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %o = "tessera.matmul"(%p, %v) : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @softcap(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"]{{.*}}softcap = 3.000000e+01 : f64{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @softcap(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %cap = "tessera.const"() {value = dense<3.000000e+01> : tensor<f32>} : () -> tensor<f32>
  %div = "tessera.div"(%s, %cap) : (tensor<2x4x6x7xf32>, tensor<f32>) -> tensor<2x4x6x7xf32>
  %tanh = "tessera.tanh"(%div) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %s1 = "tessera.mul"(%tanh, %cap) : (tensor<2x4x6x7xf32>, tensor<f32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s1) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %o = "tessera.matmul"(%p, %v) : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @narrow(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f16(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @narrow(%q: tensor<2x4x6x8xf16>, %k: tensor<2x4x8x7xf16>, %v: tensor<2x4x7x5xf16>) -> tensor<2x4x6x5xf16> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf16>, tensor<2x4x8x7xf16>) -> tensor<2x4x6x7xf16>
  %p = "tessera.softmax"(%s) : (tensor<2x4x6x7xf16>) -> tensor<2x4x6x7xf16>
  %o = "tessera.matmul"(%p, %v) : (tensor<2x4x6x7xf16>, tensor<2x4x7x5xf16>) -> tensor<2x4x6x5xf16>
  return %o : tensor<2x4x6x5xf16>
}

// CHECK-LABEL: func.func @reshape_inside(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @reshape_inside(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %reshape = "tessera.reshape"(%s) : (tensor<2x4x6x7xf32>) -> tensor<8x6x7xf32>
  %p = "tessera.softmax"(%reshape) : (tensor<8x6x7xf32>) -> tensor<8x6x7xf32>
  %reshape1 = "tessera.reshape"(%p) : (tensor<8x6x7xf32>) -> tensor<2x4x6x7xf32>
  %o = "tessera.matmul"(%reshape1, %v) : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @grouped_heads(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @grouped_heads(%q: tensor<2x6x5x8xf32>, %k: tensor<2x2x8x7xf32>, %v: tensor<2x2x7x4xf32>) -> tensor<2x6x5x4xf32> {
  %reshape = "tessera.reshape"(%k) : (tensor<2x2x8x7xf32>) -> tensor<2x2x1x8x7xf32>
  %broadcast = "tessera.broadcast"(%reshape) : (tensor<2x2x1x8x7xf32>) -> tensor<2x2x3x8x7xf32>
  %reshape1 = "tessera.reshape"(%broadcast) : (tensor<2x2x3x8x7xf32>) -> tensor<2x6x8x7xf32>
  %s = "tessera.matmul"(%q, %reshape1) : (tensor<2x6x5x8xf32>, tensor<2x6x8x7xf32>) -> tensor<2x6x5x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<2x6x5x7xf32>) -> tensor<2x6x5x7xf32>
  %reshape2 = "tessera.reshape"(%v) : (tensor<2x2x7x4xf32>) -> tensor<2x2x1x7x4xf32>
  %broadcast1 = "tessera.broadcast"(%reshape2) : (tensor<2x2x1x7x4xf32>) -> tensor<2x2x3x7x4xf32>
  %reshape3 = "tessera.reshape"(%broadcast1) : (tensor<2x2x3x7x4xf32>) -> tensor<2x6x7x4xf32>
  %o = "tessera.matmul"(%p, %reshape3) : (tensor<2x6x5x7xf32>, tensor<2x6x7x4xf32>) -> tensor<2x6x5x4xf32>
  return %o : tensor<2x6x5x4xf32>
}

// CHECK-LABEL: func.func @flash_attn_is_a_composite(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v, %mask) {causal = "bottom_right"{{.*}}roles = ["q", "k", "v", "mask"], scale = 3.5355339059327373e-01 : f64, softcap = 2.000000e+01 : f64{{.*}}tessera.fusion.source = "composite_op", transpose_b = true, window = 3 : i64
// CHECK-NEXT: func.return
func.func @flash_attn_is_a_composite(%q: tensor<2x4x6x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x5xf32>, %mask: tensor<6x7xf32>) -> tensor<2x4x6x5xf32> {
  %o = "tessera.flash_attn"(%q, %k, %v, %mask) {causal = "bottom_right", window = 3 : i64, softcap = 2.000000e+01 : f64} : (tensor<2x4x6x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x5xf32>, tensor<6x7xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @flash_attn_scale_by_default(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"], scale = 3.5355339059327373e-01 : f64{{.*}}tessera.fusion.source = "composite_op", transpose_b = true
// CHECK-NEXT: func.return
func.func @flash_attn_scale_by_default(%q: tensor<2x4x6x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %o = "tessera.flash_attn"(%q, %k, %v) : (tensor<2x4x6x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// A remark where none did.

// CHECK-LABEL: func.func @near_miss_is_a_remark(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%q, %k)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%s)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%p, %v)
// CHECK-NEXT: func.return
func.func @near_miss_is_a_remark(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s) {axis = 2 : i64} : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  // expected-remark @+1 {{[TSR-F104] not fused as matmul_softmax_matmul: tessera.softmax axis: found axis = 2, wanted axis = -1}}
  %o = "tessera.matmul"(%p, %v) : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @f106_no_kernel_for_f64(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f64(%q, %k)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f64(%s)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f64(%p, %v)
// CHECK-NEXT: func.return
func.func @f106_no_kernel_for_f64(%q: tensor<6x8xf64>, %k: tensor<8x7xf64>, %v: tensor<7x5xf64>) -> tensor<6x5xf64> {
  %s = "tessera.matmul"(%q, %k) : (tensor<6x8xf64>, tensor<8x7xf64>) -> tensor<6x7xf64>
  %p = "tessera.softmax"(%s) : (tensor<6x7xf64>) -> tensor<6x7xf64>
  // expected-remark @+1 {{[TSR-F106] not fused as matmul_softmax_matmul: element type: found f64, wanted one of f32, f16, bf16 for all}}
  %o = "tessera.matmul"(%p, %v) : (tensor<6x7xf64>, tensor<7x5xf64>) -> tensor<6x5xf64>
  return %o : tensor<6x5xf64>
}

// No mark: nothing near.

// CHECK-LABEL: func.func @two_products_are_no_attention(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%a, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%h, %c)
// CHECK-NEXT: func.return
func.func @two_products_are_no_attention(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>, %c: tensor<7x5xf32>) -> tensor<6x5xf32> {
  %h = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %o = "tessera.matmul"(%h, %c) : (tensor<6x7xf32>, tensor<7x5xf32>) -> tensor<6x5xf32>
  return %o : tensor<6x5xf32>
}

// CHECK-LABEL: func.func @softmax_of_an_argument_is_none(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%a)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%p, %c)
// CHECK-NEXT: func.return
func.func @softmax_of_an_argument_is_none(%a: tensor<6x7xf32>, %c: tensor<7x5xf32>) -> tensor<6x5xf32> {
  %p = "tessera.softmax"(%a) : (tensor<6x7xf32>) -> tensor<6x7xf32>
  // expected-remark @+1 {{[TSR-F101] not fused as matmul_softmax_matmul: producer: found a function argument, wanted tessera.matmul}}
  %o = "tessera.matmul"(%p, %c) : (tensor<6x7xf32>, tensor<7x5xf32>) -> tensor<6x5xf32>
  return %o : tensor<6x5xf32>
}
