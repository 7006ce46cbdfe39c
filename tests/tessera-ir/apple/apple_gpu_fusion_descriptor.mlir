// RUN: tessera-opt %s --tessera-lower-to-apple_gpu-runtime --remarks --verify-diagnostics | filecheck %s

// Where each fused call comes from: an intent (descriptor), the program alone
// (rediscovered), or a pre-fused op (composite_op); and what a contradiction says.

// An intent drove it.

// CHECK-LABEL: func.func @attention_descriptor(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"]{{.*}}tessera.fusion.source = "descriptor"
// CHECK-NEXT: func.return
func.func @attention_descriptor(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @softmax_descriptor(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f32(%a, %b) {{{.*}}roles = ["a", "b"]{{.*}}tessera.fusion.source = "descriptor"
// CHECK-NEXT: func.return
func.func @softmax_descriptor(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>) -> tensor<6x7xf32> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %o = "tessera.softmax"(%s) {tessera.fusion.intent = "matmul_softmax"} : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o : tensor<6x7xf32>
}

// CHECK-LABEL: func.func @gelu_descriptor(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_gelu_f32(%x, %w) {{{.*}}roles = ["x", "w"]{{.*}}tessera.fusion.source = "descriptor"
// CHECK-NEXT: func.return
func.func @gelu_descriptor(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.gelu"(%h) {tessera.fusion.intent = "matmul_gelu"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @rmsnorm_descriptor(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_rmsnorm_f32(%x, %w, %n) {{{.*}}roles = ["x", "w", "weight"]{{.*}}tessera.fusion.source = "descriptor"
// CHECK-NEXT: func.return
func.func @rmsnorm_descriptor(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>, %n: tensor<6xf32>) -> tensor<2x3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %o = "tessera.rmsnorm"(%h, %n) {tessera.fusion.intent = "matmul_rmsnorm"} : (tensor<2x3x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  return %o : tensor<2x3x6xf32>
}

// Found again without one.

// CHECK-LABEL: func.func @attention_rediscovered(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @attention_rediscovered(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %o = "tessera.matmul"(%p, %v) : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @softmax_rediscovered(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_f32(%a, %b) {{{.*}}roles = ["a", "b"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @softmax_rediscovered(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>) -> tensor<6x7xf32> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %o = "tessera.softmax"(%s) : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o : tensor<6x7xf32>
}

// CHECK-LABEL: func.func @gelu_rediscovered(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_gelu_f32(%x, %w) {{{.*}}roles = ["x", "w"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @gelu_rediscovered(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.gelu"(%h) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @rmsnorm_rediscovered(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_rmsnorm_f32(%x, %w, %n) {{{.*}}roles = ["x", "w", "weight"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @rmsnorm_rediscovered(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>, %n: tensor<6xf32>) -> tensor<2x3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %o = "tessera.rmsnorm"(%h, %n) : (tensor<2x3x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  return %o : tensor<2x3x6xf32>
}

// A pre-fused op is the descriptor.

// CHECK-LABEL: func.func @flash_attn_is_the_descriptor(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"], scale = 3.5355339059327373e-01 : f64{{.*}}tessera.fusion.source = "composite_op", transpose_b = true
// CHECK-NEXT: func.return
func.func @flash_attn_is_the_descriptor(%q: tensor<2x4x6x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %o = "tessera.flash_attn"(%q, %k, %v) : (tensor<2x4x6x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @swiglu_is_the_descriptor(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_swiglu_f32(%x, %w_gate, %w_up, %w_down) {{{.*}}roles = ["x", "w_gate", "w_up", "w_down"]{{.*}}tessera.fusion.source = "composite_op"
// CHECK-NEXT: func.return
func.func @swiglu_is_the_descriptor(%x: tensor<3x8xf32>, %w_gate: tensor<8x6xf32>, %w_up: tensor<8x6xf32>, %w_down: tensor<6x4xf32>, %b_gate: tensor<6xf32>, %b_up: tensor<6xf32>, %b_down: tensor<4xf32>) -> tensor<3x4xf32> {
  %o = "tessera.swiglu_fused"(%x, %w_gate, %w_up, %w_down) : (tensor<3x8xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @mla_from_x_is_the_descriptor(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_mla_decode_f32(%x, %w_dkv, %q, %w_uk, %w_uv) {{{.*}}form = "absorbed"{{.*}}roles = ["x", "w_dkv", "q", "w_uk", "w_uv"], scale = 2.500000e-01 : f64{{.*}}tessera.fusion.source = "composite_op"
// CHECK-NEXT: func.return
func.func @mla_from_x_is_the_descriptor(%x: tensor<8x24xf32>, %w_dkv: tensor<24x32xf32>, %w_uk: tensor<32x16xf32>, %w_uv: tensor<32x10xf32>, %q: tensor<3x16xf32>) -> tensor<3x10xf32> {
  %o = "tessera.mla_decode_fused"(%x, %w_dkv, %w_uk, %w_uv, %q) : (tensor<8x24xf32>, tensor<24x32xf32>, tensor<32x16xf32>, tensor<32x10xf32>, tensor<3x16xf32>) -> tensor<3x10xf32>
  return %o : tensor<3x10xf32>
}

// CHECK-LABEL: func.func @mla_from_a_cache_is_the_descriptor(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_mla_decode_f32(%q_nope, %q_rope, %c, %k_rope, %w_uk, %w_uv) {{{.*}}form = "absorbed"{{.*}}roles = ["q_nope", "q_rope", "c", "k_rope", "w_uk", "w_uv"], scale = 2.1320071635561041e-01 : f64{{.*}}tessera.fusion.source = "composite_op"
// CHECK-NEXT: func.return
func.func @mla_from_a_cache_is_the_descriptor(%q_nope: tensor<2x4x3x16xf32>, %q_rope: tensor<2x4x3x6xf32>, %c: tensor<2x8x32xf32>, %k_rope: tensor<2x8x6xf32>, %w_uk: tensor<4x32x16xf32>, %w_uv: tensor<4x32x10xf32>) -> tensor<2x4x3x10xf32> {
  %o = "tessera.mla_cached_fused"(%q_nope, %q_rope, %c, %k_rope, %w_uk, %w_uv) : (tensor<2x4x3x16xf32>, tensor<2x4x3x6xf32>, tensor<2x8x32xf32>, tensor<2x8x6xf32>, tensor<4x32x16xf32>, tensor<4x32x10xf32>) -> tensor<2x4x3x10xf32>
  return %o : tensor<2x4x3x10xf32>
}

// CHECK-LABEL: func.func @nsa_is_the_descriptor(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_native_sparse_attn_f32(%q, %k, %v, %gates) {block_size = 4 : i64{{.*}}cmp_len = 4 : i64, cmp_stride = 4 : i64{{.*}}roles = ["q", "k", "v", "gates"], scale = 3.5355339059327373e-01 : f64{{.*}}tessera.fusion.source = "composite_op", top_k = 3 : i64, window_size = 5 : i64
// CHECK-NEXT: func.return
func.func @nsa_is_the_descriptor(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %gates: tensor<1x4x16x3xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %o = "tessera.native_sparse_attn_fused"(%q, %k, %v, %gates) {window_size = 5 : i64, block_size = 4 : i64, top_k = 3 : i64} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x4x16x3xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// An intent that the program contradicts: one warning, and what runs instead.

// CHECK-LABEL: func.func @contradicted_and_unfused(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%q, %k)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_exp_f32(%s)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_softmax_f32(%exp)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%p, %v)
// CHECK-NEXT: func.return
func.func @contradicted_and_unfused(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %exp = "tessera.exp"(%s) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%exp) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  // expected-warning @+1 {{[TSR-F101] intent 'matmul_softmax_matmul' is not what the program says: producer: found tessera.exp, wanted tessera.matmul; runs instead: the unfused ops}}
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @contradicted_and_fused_as_something_else(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @contradicted_and_fused_as_something_else(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  // expected-warning @+1 {{[TSR-F112] intent 'matmul_gelu' is not what the program says: terminal op: found tessera.matmul, wanted tessera.gelu; runs instead: matmul_softmax_matmul (rediscovered)}}
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_gelu"} : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @contradicted_by_an_unknown_name(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_gelu_f32(%x, %w) {{{.*}}roles = ["x", "w"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @contradicted_by_an_unknown_name(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  // expected-warning @+1 {{[TSR-F109] intent 'flash_gelu' is not what the program says: kernel name: found "flash_gelu", wanted matmul_softmax_matmul, matmul_rmsnorm, matmul_gelu, matmul_softmax; runs instead: matmul_gelu (rediscovered)}}
  %o = "tessera.gelu"(%h) {tessera.fusion.intent = "flash_gelu"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @f102_product_read_twice(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_gelu_f32(%h)
// CHECK-NEXT: func.return
func.func @f102_product_read_twice(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>) {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  // expected-warning @+1 {{[TSR-F102] intent 'matmul_gelu' is not what the program says: readers: found 1 more reader(s) of tessera.matmul, wanted none outside the chain; runs instead: the unfused ops}}
  %o = "tessera.gelu"(%h) {tessera.fusion.intent = "matmul_gelu"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o, %h : tensor<3x6xf32>, tensor<3x6xf32>
}
