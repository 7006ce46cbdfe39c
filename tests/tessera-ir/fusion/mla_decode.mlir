// RUN: tessera-opt %s --tessera-lower-to-apple_gpu-runtime --remarks --verify-diagnostics | filecheck %s

// Latent attention as one call, from x and from a cache.

// From x.

// CHECK-LABEL: func.func @scale_by_default(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_mla_decode_f32(%x, %w_dkv, %q, %w_uk, %w_uv) {{{.*}}form = "absorbed"{{.*}}roles = ["x", "w_dkv", "q", "w_uk", "w_uv"], scale = 2.500000e-01 : f64{{.*}}tessera.fusion.source = "composite_op"
// CHECK-NEXT: func.return
func.func @scale_by_default(%x: tensor<8x24xf32>, %w_dkv: tensor<24x32xf32>, %w_uk: tensor<32x16xf32>, %w_uv: tensor<32x10xf32>, %q: tensor<3x16xf32>) -> tensor<3x10xf32> {
  %o = "tessera.mla_decode_fused"(%x, %w_dkv, %w_uk, %w_uv, %q) : (tensor<8x24xf32>, tensor<24x32xf32>, tensor<32x16xf32>, tensor<32x10xf32>, tensor<3x16xf32>) -> tensor<3x10xf32>
  return %o : tensor<3x10xf32>
}

// CHECK-LABEL: func.func @scale_and_causal(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_mla_decode_f32(%x, %w_dkv, %q, %w_uk, %w_uv) {causal = true, form = "absorbed"{{.*}}roles = ["x", "w_dkv", "q", "w_uk", "w_uv"], scale = 5.000000e-01 : f64{{.*}}tessera.fusion.source = "composite_op"
// CHECK-NEXT: func.return
func.func @scale_and_causal(%x: tensor<8x24xf32>, %w_dkv: tensor<24x32xf32>, %w_uk: tensor<32x16xf32>, %w_uv: tensor<32x10xf32>, %q: tensor<3x16xf32>) -> tensor<3x10xf32> {
  %o = "tessera.mla_decode_fused"(%x, %w_dkv, %w_uk, %w_uv, %q) {scale = 5.000000e-01 : f64, causal = true} : (tensor<8x24xf32>, tensor<24x32xf32>, tensor<32x16xf32>, tensor<32x10xf32>, tensor<3x16xf32>) -> tensor<3x10xf32>
  return %o : tensor<3x10xf32>
}

// CHECK-LABEL: func.func @heads(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_mla_decode_f32(%x, %w_dkv, %q, %w_uk, %w_uv) {{{.*}}form = "absorbed", heads = 4 : i64{{.*}}roles = ["x", "w_dkv", "q", "w_uk", "w_uv"], scale = 2.500000e-01 : f64{{.*}}tessera.fusion.source = "composite_op"
// CHECK-NEXT: func.return
func.func @heads(%x: tensor<2x8x24xf32>, %w_dkv: tensor<24x32xf32>, %w_uk: tensor<32x64xf32>, %w_uv: tensor<32x40xf32>, %q: tensor<2x4x3x16xf32>) -> tensor<2x4x3x10xf32> {
  %o = "tessera.mla_decode_fused"(%x, %w_dkv, %w_uk, %w_uv, %q) {heads = 4 : i64} : (tensor<2x8x24xf32>, tensor<24x32xf32>, tensor<32x64xf32>, tensor<32x40xf32>, tensor<2x4x3x16xf32>) -> tensor<2x4x3x10xf32>
  return %o : tensor<2x4x3x10xf32>
}

// From a cache: absorbed where that multiplies less.

// CHECK-LABEL: func.func @cached_expanded(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_mla_decode_f32(%q_nope, %q_rope, %c, %k_rope, %w_uk, %w_uv) {{{.*}}roles = ["q_nope", "q_rope", "c", "k_rope", "w_uk", "w_uv"], scale = 2.1320071635561041e-01 : f64{{.*}}tessera.fusion.source = "composite_op"
// CHECK-NEXT: func.return
func.func @cached_expanded(%q_nope: tensor<2x4x512x16xf32>, %q_rope: tensor<2x4x512x6xf32>, %c: tensor<2x8x32xf32>, %k_rope: tensor<2x8x6xf32>, %w_uk: tensor<4x32x16xf32>, %w_uv: tensor<4x32x10xf32>) -> tensor<2x4x512x10xf32> {
  %o = "tessera.mla_cached_fused"(%q_nope, %q_rope, %c, %k_rope, %w_uk, %w_uv) : (tensor<2x4x512x16xf32>, tensor<2x4x512x6xf32>, tensor<2x8x32xf32>, tensor<2x8x6xf32>, tensor<4x32x16xf32>, tensor<4x32x10xf32>) -> tensor<2x4x512x10xf32>
  return %o : tensor<2x4x512x10xf32>
}

// CHECK-LABEL: func.func @cached_absorbed(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_mla_decode_f32(%q_nope, %q_rope, %c, %k_rope, %w_uk, %w_uv) {{{.*}}form = "absorbed"{{.*}}roles = ["q_nope", "q_rope", "c", "k_rope", "w_uk", "w_uv"], scale = 2.1320071635561041e-01 : f64{{.*}}tessera.fusion.source = "composite_op"
// CHECK-NEXT: func.return
func.func @cached_absorbed(%q_nope: tensor<2x4x1x16xf32>, %q_rope: tensor<2x4x1x6xf32>, %c: tensor<2x512x32xf32>, %k_rope: tensor<2x512x6xf32>, %w_uk: tensor<4x32x16xf32>, %w_uv: tensor<4x32x10xf32>) -> tensor<2x4x1x10xf32> {
  %o = "tessera.mla_cached_fused"(%q_nope, %q_rope, %c, %k_rope, %w_uk, %w_uv) : (tensor<2x4x1x16xf32>, tensor<2x4x1x6xf32>, tensor<2x512x32xf32>, tensor<2x512x6xf32>, tensor<4x32x16xf32>, tensor<4x32x10xf32>) -> tensor<2x4x1x10xf32>
  return %o : tensor<2x4x1x10xf32>
}

// CHECK-LABEL: func.func @cached_mask(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_mla_decode_f32(%q_nope, %q_rope, %c, %k_rope, %w_uk, %w_uv, %mask) {causal = true, form = "absorbed"{{.*}}roles = ["q_nope", "q_rope", "c", "k_rope", "w_uk", "w_uv", "mask"], scale = 2.1320071635561041e-01 : f64{{.*}}tessera.fusion.source = "composite_op"
// CHECK-NEXT: func.return
func.func @cached_mask(%q_nope: tensor<2x4x3x16xf32>, %q_rope: tensor<2x4x3x6xf32>, %c: tensor<2x8x32xf32>, %k_rope: tensor<2x8x6xf32>, %w_uk: tensor<4x32x16xf32>, %w_uv: tensor<4x32x10xf32>, %mask: tensor<3x8xi1>) -> tensor<2x4x3x10xf32> {
  %o = "tessera.mla_cached_fused"(%q_nope, %q_rope, %c, %k_rope, %w_uk, %w_uv, %mask) {causal = true} : (tensor<2x4x3x16xf32>, tensor<2x4x3x6xf32>, tensor<2x8x32xf32>, tensor<2x8x6xf32>, tensor<4x32x16xf32>, tensor<4x32x10xf32>, tensor<3x8xi1>) -> tensor<2x4x3x10xf32>
  return %o : tensor<2x4x3x10xf32>
}

// What it refuses: the op runs on its own.

// CHECK-LABEL: func.func @f106_mask_of_another_type(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_mla_cached_fused_f16(%q_nope, %q_rope, %c, %k_rope, %w_uk, %w_uv, %mask)
// CHECK-NEXT: func.return
func.func @f106_mask_of_another_type(%q_nope: tensor<2x4x3x16xf16>, %q_rope: tensor<2x4x3x6xf16>, %c: tensor<2x8x32xf16>, %k_rope: tensor<2x8x6xf16>, %w_uk: tensor<4x32x16xf16>, %w_uv: tensor<4x32x10xf16>, %mask: tensor<3x8xf32>) -> tensor<2x4x3x10xf16> {
  // expected-warning @+1 {{[TSR-F106] 'tessera.mla_cached_fused' is not fused as mla_decode: element type: found q_nope f16, q_rope f16, c f16, k_rope f16, w_uk f16, w_uv f16, mask f32, wanted one of f32, f16, bf16 for all}}
  %o = "tessera.mla_cached_fused"(%q_nope, %q_rope, %c, %k_rope, %w_uk, %w_uv, %mask) : (tensor<2x4x3x16xf16>, tensor<2x4x3x6xf16>, tensor<2x8x32xf16>, tensor<2x8x6xf16>, tensor<4x32x16xf16>, tensor<4x32x10xf16>, tensor<3x8xf32>) -> tensor<2x4x3x10xf16>
  return %o : tensor<2x4x3x10xf16>
}
