// RUN: tessera-opt %s --tessera-mla-fusion --remarks --verify-diagnostics | filecheck %s

// Chains over a latent become mla_decode_fused.

// Chains that are raised.

// CHECK-LABEL: func.func @flash_attn_of_expanded_keys(
// CHECK-NEXT: {{.*}}"tessera.mla_decode_fused"(%x, %w_dkv, %w_uk, %w_uv, %q) {causal = false}
// CHECK-NEXT: func.return
func.func @flash_attn_of_expanded_keys(%x: tensor<8x24xf32>, %w_dkv: tensor<24x32xf32>, %w_uk: tensor<32x16xf32>, %w_uv: tensor<32x10xf32>, %q: tensor<3x16xf32>) -> tensor<3x10xf32> {
  %c = "tessera.latent_kv_compress"(%x, %w_dkv) : (tensor<8x24xf32>, tensor<24x32xf32>) -> tensor<8x32xf32>
  %k = "tessera.latent_kv_expand_k"(%c, %w_uk) : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %v = "tessera.latent_kv_expand_v"(%c, %w_uv) : (tensor<8x32xf32>, tensor<32x10xf32>) -> tensor<8x10xf32>
  %o = "tessera.flash_attn"(%q, %k, %v) : (tensor<3x16xf32>, tensor<8x16xf32>, tensor<8x10xf32>) -> tensor<3x10xf32>
  return %o : tensor<3x10xf32>
}

// CHECK-LABEL: func.func @causal_bottom_right(
// CHECK-NEXT: {{.*}}"tessera.mla_decode_fused"(%x, %w_dkv, %w_uk, %w_uv, %q) {scale = 5.000000e-01 : f64, causal = true}
// CHECK-NEXT: func.return
func.func @causal_bottom_right(%x: tensor<8x24xf32>, %w_dkv: tensor<24x32xf32>, %w_uk: tensor<32x16xf32>, %w_uv: tensor<32x10xf32>, %q: tensor<3x16xf32>) -> tensor<3x10xf32> {
  %c = "tessera.latent_kv_compress"(%x, %w_dkv) : (tensor<8x24xf32>, tensor<24x32xf32>) -> tensor<8x32xf32>
  %k = "tessera.latent_kv_expand_k"(%c, %w_uk) : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %v = "tessera.latent_kv_expand_v"(%c, %w_uv) : (tensor<8x32xf32>, tensor<32x10xf32>) -> tensor<8x10xf32>
  %o = "tessera.flash_attn"(%q, %k, %v) {causal = "bottom_right", scale = 5.000000e-01 : f64} : (tensor<3x16xf32>, tensor<8x16xf32>, tensor<8x10xf32>) -> tensor<3x10xf32>
  return %o : tensor<3x10xf32>
}

// CHECK-LABEL: func.func @leading_ones(
// CHECK-NEXT: {{.*}}"tessera.mla_decode_fused"(%x, %w_dkv, %w_uk, %w_uv, %q) {causal = false}
// CHECK-NEXT: func.return
func.func @leading_ones(%x: tensor<8x24xf32>, %w_dkv: tensor<24x32xf32>, %w_uk: tensor<32x16xf32>, %w_uv: tensor<32x10xf32>, %q: tensor<1x3x16xf32>) -> tensor<1x3x10xf32> {
  %c = "tessera.latent_kv_compress"(%x, %w_dkv) : (tensor<8x24xf32>, tensor<24x32xf32>) -> tensor<8x32xf32>
  %k = "tessera.latent_kv_expand_k"(%c, %w_uk) : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<1x8x16xf32>
  %v = "tessera.latent_kv_expand_v"(%c, %w_uv) : (tensor<8x32xf32>, tensor<32x10xf32>) -> tensor<1x8x10xf32>
  %o = "tessera.flash_attn"(%q, %k, %v) : (tensor<1x3x16xf32>, tensor<1x8x16xf32>, tensor<1x8x10xf32>) -> tensor<1x3x10xf32>
  return %o : tensor<1x3x10xf32>
}

// CHECK-LABEL: func.func @spelled_out(
// CHECK: {{.*}}"tessera.mla_decode_fused"(%x, %w_dkv, %w_uk, %w_uv, %q) {scale = 2.500000e-01 : f64, causal = false}
// CHECK-NEXT: func.return
func.func @spelled_out(%x: tensor<8x24xf32>, %w_dkv: tensor<24x32xf32>, %w_uk: tensor<32x16xf32>, %w_uv: tensor<32x10xf32>, %q: tensor<3x16xf32>) -> tensor<3x10xf32> {
  %c = "tessera.latent_kv_compress"(%x, %w_dkv) : (tensor<8x24xf32>, tensor<24x32xf32>) -> tensor<8x32xf32>
  %k = "tessera.latent_kv_expand_k"(%c, %w_uk) : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %v = "tessera.latent_kv_expand_v"(%c, %w_uv) : (tensor<8x32xf32>, tensor<32x10xf32>) -> tensor<8x10xf32>
  %s = "tessera.matmul"(%q, %k) {transpose_b = true} : (tensor<3x16xf32>, tensor<8x16xf32>) -> tensor<3x8xf32>
  %scale = "tessera.const"() {value = dense<2.500000e-01> : tensor<f32>} : () -> tensor<f32>
  %s1 = "tessera.mul"(%s, %scale) : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %p = "tessera.softmax"(%s1) : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %o = "tessera.matmul"(%p, %v) : (tensor<3x8xf32>, tensor<8x10xf32>) -> tensor<3x10xf32>
  return %o : tensor<3x10xf32>
}

// CHECK-LABEL: func.func @spelled_out_with_leading_ones(
// CHECK: {{.*}}"tessera.mla_decode_fused"(%x, %w_dkv, %w_uk, %w_uv, %q) {scale = 2.500000e-01 : f64, causal = false}
// CHECK-NEXT: func.return
func.func @spelled_out_with_leading_ones(%x: tensor<8x24xf32>, %w_dkv: tensor<24x32xf32>, %w_uk: tensor<32x16xf32>, %w_uv: tensor<32x10xf32>, %q: tensor<1x3x16xf32>) -> tensor<1x3x10xf32> {
  %c = "tessera.latent_kv_compress"(%x, %w_dkv) : (tensor<8x24xf32>, tensor<24x32xf32>) -> tensor<8x32xf32>
  %k = "tessera.latent_kv_expand_k"(%c, %w_uk) : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<1x8x16xf32>
  %v = "tessera.latent_kv_expand_v"(%c, %w_uv) : (tensor<8x32xf32>, tensor<32x10xf32>) -> tensor<1x8x10xf32>
  %s = "tessera.matmul"(%q, %k) {transpose_b = true} : (tensor<1x3x16xf32>, tensor<1x8x16xf32>) -> tensor<1x3x8xf32>
  %scale = "tessera.const"() {value = dense<2.500000e-01> : tensor<f32>} : () -> tensor<f32>
  %s1 = "tessera.mul"(%s, %scale) : (tensor<1x3x8xf32>, tensor<f32>) -> tensor<1x3x8xf32>
  %p = "tessera.softmax"(%s1) : (tensor<1x3x8xf32>) -> tensor<1x3x8xf32>
  %o = "tessera.matmul"(%p, %v) : (tensor<1x3x8xf32>, tensor<1x8x10xf32>) -> tensor<1x3x10xf32>
  return %o : tensor<1x3x10xf32>
}

// Near misses stay as they are.

// CHECK-LABEL: func.func @k501_causal_top_left(
// CHECK-NEXT: {{.*}}"tessera.latent_kv_compress"(%x, %w_dkv)
// CHECK-NEXT: {{.*}}"tessera.latent_kv_expand_k"(%c, %w_uk)
// CHECK-NEXT: {{.*}}"tessera.latent_kv_expand_v"(%c, %w_uv)
// CHECK-NEXT: {{.*}}"tessera.flash_attn"(%q, %k, %v) {causal = "top_left"}
// CHECK-NEXT: func.return
func.func @k501_causal_top_left(%x: tensor<8x24xf32>, %w_dkv: tensor<24x32xf32>, %w_uk: tensor<32x16xf32>, %w_uv: tensor<32x10xf32>, %q: tensor<3x16xf32>) -> tensor<3x10xf32> {
  %c = "tessera.latent_kv_compress"(%x, %w_dkv) : (tensor<8x24xf32>, tensor<24x32xf32>) -> tensor<8x32xf32>
  %k = "tessera.latent_kv_expand_k"(%c, %w_uk) : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %v = "tessera.latent_kv_expand_v"(%c, %w_uv) : (tensor<8x32xf32>, tensor<32x10xf32>) -> tensor<8x10xf32>
  // expected-remark @+1 {{[TSR-K501] not raised to mla_decode_fused: causal alignment: found causal = "top_left", wanted causal = "bottom_right"}}
  %o = "tessera.flash_attn"(%q, %k, %v) {causal = "top_left"} : (tensor<3x16xf32>, tensor<8x16xf32>, tensor<8x10xf32>) -> tensor<3x10xf32>
  return %o : tensor<3x10xf32>
}

// CHECK-LABEL: func.func @f102_latent_read_twice(
// CHECK-NEXT: {{.*}}"tessera.latent_kv_compress"(%x, %w_dkv)
// CHECK-NEXT: {{.*}}"tessera.latent_kv_expand_k"(%c, %w_uk)
// CHECK-NEXT: {{.*}}"tessera.latent_kv_expand_v"(%c, %w_uv)
// CHECK-NEXT: {{.*}}"tessera.flash_attn"(%q, %k, %v)
// CHECK-NEXT: func.return
func.func @f102_latent_read_twice(%x: tensor<8x24xf32>, %w_dkv: tensor<24x32xf32>, %w_uk: tensor<32x16xf32>, %w_uv: tensor<32x10xf32>, %q: tensor<3x16xf32>) -> (tensor<3x10xf32>, tensor<8x32xf32>) {
  %c = "tessera.latent_kv_compress"(%x, %w_dkv) : (tensor<8x24xf32>, tensor<24x32xf32>) -> tensor<8x32xf32>
  %k = "tessera.latent_kv_expand_k"(%c, %w_uk) : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %v = "tessera.latent_kv_expand_v"(%c, %w_uv) : (tensor<8x32xf32>, tensor<32x10xf32>) -> tensor<8x10xf32>
  // expected-remark @+1 {{[TSR-F102] not raised to mla_decode_fused: readers: found 1 more reader(s) of tessera.latent_kv_compress, wanted none outside the chain}}
  %o = "tessera.flash_attn"(%q, %k, %v) : (tensor<3x16xf32>, tensor<8x16xf32>, tensor<8x10xf32>) -> tensor<3x10xf32>
  return %o, %c : tensor<3x10xf32>, tensor<8x32xf32>
}

// CHECK-LABEL: func.func @f101_keys_and_values_of_two_latents(
// CHECK-NEXT: {{.*}}"tessera.latent_kv_compress"(%x, %w_dkv)
// CHECK-NEXT: {{.*}}"tessera.latent_kv_compress"(%y, %w_dkv)
// CHECK-NEXT: {{.*}}"tessera.latent_kv_expand_k"(%c, %w_uk)
// CHECK-NEXT: {{.*}}"tessera.latent_kv_expand_v"(%c1, %w_uv)
// CHECK-NEXT: {{.*}}"tessera.flash_attn"(%q, %k, %v)
// CHECK-NEXT: func.return
func.func @f101_keys_and_values_of_two_latents(%x: tensor<8x24xf32>, %w_dkv: tensor<24x32xf32>, %w_uk: tensor<32x16xf32>, %w_uv: tensor<32x10xf32>, %q: tensor<3x16xf32>, %y: tensor<8x24xf32>) -> tensor<3x10xf32> {
  %c = "tessera.latent_kv_compress"(%x, %w_dkv) : (tensor<8x24xf32>, tensor<24x32xf32>) -> tensor<8x32xf32>
  %c1 = "tessera.latent_kv_compress"(%y, %w_dkv) : (tensor<8x24xf32>, tensor<24x32xf32>) -> tensor<8x32xf32>
  %k = "tessera.latent_kv_expand_k"(%c, %w_uk) : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %v = "tessera.latent_kv_expand_v"(%c1, %w_uv) : (tensor<8x32xf32>, tensor<32x10xf32>) -> tensor<8x10xf32>
  // expected-remark @+1 {{[TSR-F101] not raised to mla_decode_fused: operand: found a function argument where 'x' is already another value, wanted the same value}}
  %o = "tessera.flash_attn"(%q, %k, %v) : (tensor<3x16xf32>, tensor<8x16xf32>, tensor<8x10xf32>) -> tensor<3x10xf32>
  return %o : tensor<3x10xf32>
}

// CHECK-LABEL: func.func @f110_window(
// CHECK-NEXT: {{.*}}"tessera.latent_kv_compress"(%x, %w_dkv)
// CHECK-NEXT: {{.*}}"tessera.latent_kv_expand_k"(%c, %w_uk)
// CHECK-NEXT: {{.*}}"tessera.latent_kv_expand_v"(%c, %w_uv)
// CHECK-NEXT: {{.*}}"tessera.flash_attn"(%q, %k, %v) {window = 4 : i64}
// CHECK-NEXT: func.return
func.func @f110_window(%x: tensor<8x24xf32>, %w_dkv: tensor<24x32xf32>, %w_uk: tensor<32x16xf32>, %w_uv: tensor<32x10xf32>, %q: tensor<3x16xf32>) -> tensor<3x10xf32> {
  %c = "tessera.latent_kv_compress"(%x, %w_dkv) : (tensor<8x24xf32>, tensor<24x32xf32>) -> tensor<8x32xf32>
  %k = "tessera.latent_kv_expand_k"(%c, %w_uk) : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %v = "tessera.latent_kv_expand_v"(%c, %w_uv) : (tensor<8x32xf32>, tensor<32x10xf32>) -> tensor<8x10xf32>
  // expected-remark @+1 {{[TSR-F110] not raised to mla_decode_fused: tessera.flash_attn window: found window = 4, wanted window = none}}
  %o = "tessera.flash_attn"(%q, %k, %v) {window = 4 : i64} : (tensor<3x16xf32>, tensor<8x16xf32>, tensor<8x10xf32>) -> tensor<3x10xf32>
  return %o : tensor<3x10xf32>
}

// CHECK-LABEL: func.func @f110_softcap(
// CHECK-NEXT: {{.*}}"tessera.latent_kv_compress"(%x, %w_dkv)
// CHECK-NEXT: {{.*}}"tessera.latent_kv_expand_k"(%c, %w_uk)
// CHECK-NEXT: {{.*}}"tessera.latent_kv_expand_v"(%c, %w_uv)
// CHECK-NEXT: {{.*}}"tessera.flash_attn"(%q, %k, %v) {softcap = 3.000000e+01 : f64}
// CHECK-NEXT: func.return
func.func @f110_softcap(%x: tensor<8x24xf32>, %w_dkv: tensor<24x32xf32>, %w_uk: tensor<32x16xf32>, %w_uv: tensor<32x10xf32>, %q: tensor<3x16xf32>) -> tensor<3x10xf32> {
  %c = "tessera.latent_kv_compress"(%x, %w_dkv) : (tensor<8x24xf32>, tensor<24x32xf32>) -> tensor<8x32xf32>
  %k = "tessera.latent_kv_expand_k"(%c, %w_uk) : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %v = "tessera.latent_kv_expand_v"(%c, %w_uv) : (tensor<8x32xf32>, tensor<32x10xf32>) -> tensor<8x10xf32>
  // expected-remark @+1 {{[TSR-F110] not raised to mla_decode_fused: tessera.flash_attn softcap: found softcap = 30.0, wanted softcap = none}}
  %o = "tessera.flash_attn"(%q, %k, %v) {softcap = 3.000000e+01 : f64} : (tensor<3x16xf32>, tensor<8x16xf32>, tensor<8x10xf32>) -> tensor<3x10xf32>
  return %o : tensor<3x10xf32>
}

// No mark: nothing near.

// CHECK-LABEL: func.func @a_stamped_op_is_not_taken(
// CHECK-NEXT: {{.*}}"tessera.latent_kv_compress"(%x, %w_dkv)
// CHECK-NEXT: {{.*}}"tessera.latent_kv_expand_k"(%c, %w_uk)
// CHECK-NEXT: {{.*}}"tessera.latent_kv_expand_v"(%c, %w_uv)
// CHECK-NEXT: {{.*}}"tessera.matmul"(%q, %k) {transpose_b = true}
// CHECK: {{.*}}"tessera.mul"(%s, %scale)
// CHECK-NEXT: {{.*}}"tessera.softmax"(%s1)
// CHECK-NEXT: {{.*}}"tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"}
// CHECK-NEXT: func.return
func.func @a_stamped_op_is_not_taken(%x: tensor<8x24xf32>, %w_dkv: tensor<24x32xf32>, %w_uk: tensor<32x16xf32>, %w_uv: tensor<32x10xf32>, %q: tensor<3x16xf32>) -> tensor<3x10xf32> {
  %c = "tessera.latent_kv_compress"(%x, %w_dkv) : (tensor<8x24xf32>, tensor<24x32xf32>) -> tensor<8x32xf32>
  %k = "tessera.latent_kv_expand_k"(%c, %w_uk) : (tensor<8x32xf32>, tensor<32x16xf32>) -> tensor<8x16xf32>
  %v = "tessera.latent_kv_expand_v"(%c, %w_uv) : (tensor<8x32xf32>, tensor<32x10xf32>) -> tensor<8x10xf32>
  %s = "tessera.matmul"(%q, %k) {transpose_b = true} : (tensor<3x16xf32>, tensor<8x16xf32>) -> tensor<3x8xf32>
  %scale = "tessera.const"() {value = dense<2.500000e-01> : tensor<f32>} : () -> tensor<f32>
  %s1 = "tessera.mul"(%s, %scale) : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
  %p = "tessera.softmax"(%s1) : (tensor<3x8xf32>) -> tensor<3x8xf32>
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<3x8xf32>, tensor<8x10xf32>) -> tensor<3x10xf32>
  return %o : tensor<3x10xf32>
}

// CHECK-LABEL: func.func @attention_of_arguments_is_none(
// CHECK-NEXT: {{.*}}"tessera.flash_attn"(%q, %k, %v)
// CHECK-NEXT: func.return
func.func @attention_of_arguments_is_none(%q: tensor<3x16xf32>, %k: tensor<8x16xf32>, %v: tensor<8x10xf32>) -> tensor<3x10xf32> {
  %o = "tessera.flash_attn"(%q, %k, %v) : (tensor<3x16xf32>, tensor<8x16xf32>, tensor<8x10xf32>) -> tensor<3x10xf32>
  return %o : tensor<3x10xf32>
}

// CHECK-LABEL: func.func @a_latent_alone_is_none(
// CHECK-NEXT: {{.*}}"tessera.latent_kv_compress"(%x, %w_dkv)
// CHECK-NEXT: func.return
func.func @a_latent_alone_is_none(%x: tensor<8x24xf32>, %w_dkv: tensor<24x32xf32>) -> tensor<8x32xf32> {
  %c = "tessera.latent_kv_compress"(%x, %w_dkv) : (tensor<8x24xf32>, tensor<24x32xf32>) -> tensor<8x32xf32>
  return %c : tensor<8x32xf32>
}
