// RUN: tessera-opt %s --tessera-lower-to-apple_gpu-runtime --remarks --verify-diagnostics | filecheck %s

// native_sparse_attn_fused as one call: every option, every refusal.

// What the kernel honours.

// CHECK-LABEL: func.func @defaults(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_native_sparse_attn_f32(%q, %k, %v, %gates) {block_size = 4 : i64{{.*}}cmp_len = 4 : i64, cmp_stride = 4 : i64{{.*}}roles = ["q", "k", "v", "gates"], scale = 3.5355339059327373e-01 : f64{{.*}}tessera.fusion.source = "composite_op", top_k = 3 : i64, window_size = 5 : i64
// CHECK-NEXT: func.return
func.func @defaults(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %gates: tensor<1x4x16x3xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %o = "tessera.native_sparse_attn_fused"(%q, %k, %v, %gates) {window_size = 5 : i64, block_size = 4 : i64, top_k = 3 : i64} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x4x16x3xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// CHECK-LABEL: func.func @compressed_given(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_native_sparse_attn_f32(%q, %k, %v, %gates, %kc, %vc) {block_size = 4 : i64{{.*}}cmp_len = 4 : i64, cmp_stride = 4 : i64{{.*}}roles = ["q", "k", "v", "gates", "kc", "vc"], scale = 3.5355339059327373e-01 : f64{{.*}}tessera.fusion.source = "composite_op", top_k = 3 : i64, window_size = 5 : i64
// CHECK-NEXT: func.return
func.func @compressed_given(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %gates: tensor<1x4x16x3xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %o = "tessera.native_sparse_attn_fused"(%q, %k, %v, %gates, %kc, %vc) {window_size = 5 : i64, block_size = 4 : i64, top_k = 3 : i64} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x4x16x3xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x6xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// CHECK-LABEL: func.func @scores_given(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_native_sparse_attn_f32(%q, %k, %v, %gates, %kc, %vc, %scores) {block_size = 4 : i64{{.*}}cmp_len = 4 : i64, cmp_stride = 4 : i64{{.*}}roles = ["q", "k", "v", "gates", "kc", "vc", "scores"], scale = 3.5355339059327373e-01 : f64{{.*}}tessera.fusion.source = "composite_op", top_k = 3 : i64, window_size = 5 : i64
// CHECK-NEXT: func.return
func.func @scores_given(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %gates: tensor<1x4x16x3xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %o = "tessera.native_sparse_attn_fused"(%q, %k, %v, %gates, %kc, %vc, %scores) {window_size = 5 : i64, block_size = 4 : i64, top_k = 3 : i64} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x4x16x3xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x6xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// CHECK-LABEL: func.func @every_option(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_native_sparse_attn_f32(%q, %k, %v, %gates) {block_size = 4 : i64{{.*}}cmp_len = 8 : i64, cmp_stride = 4 : i64, init_blocks = 2 : i64, local_blocks = 1 : i64{{.*}}roles = ["q", "k", "v", "gates"], scale = 5.000000e-01 : f64{{.*}}tessera.fusion.source = "composite_op", top_k = 4 : i64, window_size = 7 : i64
// CHECK-NEXT: func.return
func.func @every_option(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %gates: tensor<1x4x16x3xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %o = "tessera.native_sparse_attn_fused"(%q, %k, %v, %gates) {window_size = 7 : i64, block_size = 4 : i64, top_k = 4 : i64, cmp_len = 8 : i64, cmp_stride = 4 : i64, init_blocks = 2 : i64, local_blocks = 1 : i64, scale = 5.000000e-01 : f64} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x4x16x3xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// What it refuses: the op runs on its own.

// CHECK-LABEL: func.func @k601_not_causal(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_native_sparse_attn_fused_f32(%q, %k, %v, %gates)
// CHECK-NEXT: func.return
func.func @k601_not_causal(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %gates: tensor<1x4x16x3xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  // expected-warning @+1 {{[TSR-K601] 'tessera.native_sparse_attn_fused' is not fused as native_sparse_attn: causal: found causal = false, wanted causal = true}}
  %o = "tessera.native_sparse_attn_fused"(%q, %k, %v, %gates) {window_size = 5 : i64, block_size = 4 : i64, top_k = 3 : i64, causal = false} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x4x16x3xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// CHECK-LABEL: func.func @k602_fewer_blocks_than_forced(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_native_sparse_attn_fused_f32(%q, %k, %v, %gates)
// CHECK-NEXT: func.return
func.func @k602_fewer_blocks_than_forced(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %gates: tensor<1x4x16x3xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  // expected-warning @+1 {{[TSR-K602] 'tessera.native_sparse_attn_fused' is not fused as native_sparse_attn: top_k: found top_k = 2, wanted at least 3 forced blocks}}
  %o = "tessera.native_sparse_attn_fused"(%q, %k, %v, %gates) {window_size = 5 : i64, block_size = 4 : i64, top_k = 2 : i64} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x4x16x3xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}
