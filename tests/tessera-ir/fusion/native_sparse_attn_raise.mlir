// RUN: tessera-opt %s --tessera-native-sparse-attn-fusion --remarks --verify-diagnostics | filecheck %s

// The gated sum of three branches becomes native_sparse_attn_fused.

// Gated sums that are raised, in any order.

// CHECK-LABEL: func.func @compressed_selected_window(
// CHECK-NEXT: {{.*}}"tessera.concat"(%g_cmp, %g_sel, %g_win) {axis = -1 : i64}
// CHECK-NEXT: {{.*}}"tessera.native_sparse_attn_fused"(%q, %k, %v, %0, %kc, %vc, %scores) {window_size = 5 : i64, block_size = 4 : i64, top_k = 3 : i64, cmp_len = 4 : i64, cmp_stride = 4 : i64, init_blocks = 1 : i64, local_blocks = 2 : i64, causal = true}
// CHECK-NEXT: func.return
func.func @compressed_selected_window(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %g_cmp: tensor<1x4x16x1xf32>, %g_sel: tensor<1x4x16x1xf32>, %g_win: tensor<1x4x16x1xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %cmp = "tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x6xf32>) -> tensor<1x4x16x6xf32>
  %sel = "tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32>
  %win = "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m = "tessera.mul"(%g_cmp, %cmp) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m1 = "tessera.mul"(%g_sel, %sel) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m2 = "tessera.mul"(%g_win, %win) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %t = "tessera.add"(%m, %m1) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %o = "tessera.add"(%t, %m2) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// CHECK-LABEL: func.func @window_compressed_selected(
// CHECK-NEXT: {{.*}}"tessera.concat"(%g_cmp, %g_sel, %g_win) {axis = -1 : i64}
// CHECK-NEXT: {{.*}}"tessera.native_sparse_attn_fused"(%q, %k, %v, %0, %kc, %vc, %scores) {window_size = 5 : i64, block_size = 4 : i64, top_k = 3 : i64, cmp_len = 4 : i64, cmp_stride = 4 : i64, init_blocks = 1 : i64, local_blocks = 2 : i64, causal = true}
// CHECK-NEXT: func.return
func.func @window_compressed_selected(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %g_cmp: tensor<1x4x16x1xf32>, %g_sel: tensor<1x4x16x1xf32>, %g_win: tensor<1x4x16x1xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %cmp = "tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x6xf32>) -> tensor<1x4x16x6xf32>
  %sel = "tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32>
  %win = "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m = "tessera.mul"(%g_cmp, %cmp) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m1 = "tessera.mul"(%g_sel, %sel) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m2 = "tessera.mul"(%g_win, %win) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %t = "tessera.add"(%m2, %m) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %o = "tessera.add"(%t, %m1) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// CHECK-LABEL: func.func @selected_window_compressed(
// CHECK-NEXT: {{.*}}"tessera.concat"(%g_cmp, %g_sel, %g_win) {axis = -1 : i64}
// CHECK-NEXT: {{.*}}"tessera.native_sparse_attn_fused"(%q, %k, %v, %0, %kc, %vc, %scores) {window_size = 5 : i64, block_size = 4 : i64, top_k = 3 : i64, cmp_len = 4 : i64, cmp_stride = 4 : i64, init_blocks = 1 : i64, local_blocks = 2 : i64, causal = true}
// CHECK-NEXT: func.return
func.func @selected_window_compressed(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %g_cmp: tensor<1x4x16x1xf32>, %g_sel: tensor<1x4x16x1xf32>, %g_win: tensor<1x4x16x1xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %cmp = "tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x6xf32>) -> tensor<1x4x16x6xf32>
  %sel = "tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32>
  %win = "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m = "tessera.mul"(%cmp, %g_cmp) : (tensor<1x4x16x6xf32>, tensor<1x4x16x1xf32>) -> tensor<1x4x16x6xf32>
  %m1 = "tessera.mul"(%sel, %g_sel) : (tensor<1x4x16x6xf32>, tensor<1x4x16x1xf32>) -> tensor<1x4x16x6xf32>
  %m2 = "tessera.mul"(%win, %g_win) : (tensor<1x4x16x6xf32>, tensor<1x4x16x1xf32>) -> tensor<1x4x16x6xf32>
  %t = "tessera.add"(%m1, %m2) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %o = "tessera.add"(%m, %t) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// CHECK-LABEL: func.func @keys_given_to_the_compressed_branch(
// CHECK-NEXT: {{.*}}"tessera.concat"(%g_cmp, %g_sel, %g_win) {axis = -1 : i64}
// CHECK-NEXT: {{.*}}"tessera.native_sparse_attn_fused"(%q, %k, %v, %0, %kc, %vc, %scores) {window_size = 5 : i64, block_size = 4 : i64, top_k = 3 : i64, cmp_len = 4 : i64, cmp_stride = 4 : i64, init_blocks = 1 : i64, local_blocks = 2 : i64, causal = true}
// CHECK-NEXT: func.return
func.func @keys_given_to_the_compressed_branch(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %g_cmp: tensor<1x4x16x1xf32>, %g_sel: tensor<1x4x16x1xf32>, %g_win: tensor<1x4x16x1xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %cmp = "tessera.attn_compressed_blocks"(%q, %kc, %vc, %k) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x6xf32>, tensor<1x2x16x8xf32>) -> tensor<1x4x16x6xf32>
  %sel = "tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32>
  %win = "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m = "tessera.mul"(%g_cmp, %cmp) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m1 = "tessera.mul"(%g_sel, %sel) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m2 = "tessera.mul"(%g_win, %win) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %t = "tessera.add"(%m, %m1) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %o = "tessera.add"(%t, %m2) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// CHECK-LABEL: func.func @means_made_in_the_graph(
// CHECK-NEXT: {{.*}}"tessera.compress_blocks"(%k) {cmp_len = 4 : i64, cmp_stride = 4 : i64}
// CHECK-NEXT: {{.*}}"tessera.compress_blocks"(%v) {cmp_len = 4 : i64, cmp_stride = 4 : i64}
// CHECK-NEXT: {{.*}}"tessera.concat"(%g_cmp, %g_sel, %g_win) {axis = -1 : i64}
// CHECK-NEXT: {{.*}}"tessera.native_sparse_attn_fused"(%q, %k, %v, %0, %kc, %vc, %scores) {window_size = 5 : i64, block_size = 4 : i64, top_k = 3 : i64, cmp_len = 4 : i64, cmp_stride = 4 : i64, init_blocks = 1 : i64, local_blocks = 2 : i64, causal = true}
// CHECK-NEXT: func.return
func.func @means_made_in_the_graph(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %g_cmp: tensor<1x4x16x1xf32>, %g_sel: tensor<1x4x16x1xf32>, %g_win: tensor<1x4x16x1xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %kc = "tessera.compress_blocks"(%k) {cmp_len = 4 : i64, cmp_stride = 4 : i64} : (tensor<1x2x16x8xf32>) -> tensor<1x2x4x8xf32>
  %vc = "tessera.compress_blocks"(%v) {cmp_len = 4 : i64, cmp_stride = 4 : i64} : (tensor<1x2x16x6xf32>) -> tensor<1x2x4x6xf32>
  %cmp = "tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x6xf32>) -> tensor<1x4x16x6xf32>
  %sel = "tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32>
  %win = "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m = "tessera.mul"(%g_cmp, %cmp) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m1 = "tessera.mul"(%g_sel, %sel) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m2 = "tessera.mul"(%g_win, %win) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %t = "tessera.add"(%m, %m1) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %o = "tessera.add"(%t, %m2) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// CHECK-LABEL: func.func @compressed_counted_over_other_keys_as_many(
// CHECK-NEXT: {{.*}}"tessera.concat"(%g_cmp, %g_sel, %g_win) {axis = -1 : i64}
// CHECK-NEXT: {{.*}}"tessera.native_sparse_attn_fused"(%q, %k, %v, %0, %kc, %vc, %scores) {window_size = 5 : i64, block_size = 4 : i64, top_k = 3 : i64, cmp_len = 4 : i64, cmp_stride = 4 : i64, init_blocks = 1 : i64, local_blocks = 2 : i64, causal = true}
// CHECK-NEXT: func.return
func.func @compressed_counted_over_other_keys_as_many(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %g_cmp: tensor<1x4x16x1xf32>, %g_sel: tensor<1x4x16x1xf32>, %g_win: tensor<1x4x16x1xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %k_cmp: tensor<1x2x16x8xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %cmp = "tessera.attn_compressed_blocks"(%q, %kc, %vc, %k_cmp) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x6xf32>, tensor<1x2x16x8xf32>) -> tensor<1x4x16x6xf32>
  %sel = "tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32>
  %win = "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m = "tessera.mul"(%g_cmp, %cmp) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m1 = "tessera.mul"(%g_sel, %sel) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m2 = "tessera.mul"(%g_win, %win) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %t = "tessera.add"(%m, %m1) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %o = "tessera.add"(%t, %m2) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// Near misses stay as they are.

// CHECK-LABEL: func.func @f101_window_with_its_own_keys(
// CHECK-NEXT: {{.*}}"tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.attn_sliding_window"(%q, %k_own, %v_own) {window_size = 5 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_cmp, %cmp)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_sel, %sel)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_win, %win)
// CHECK-NEXT: {{.*}}"tessera.add"(%m, %m1)
// CHECK-NEXT: {{.*}}"tessera.add"(%t, %m2)
// CHECK-NEXT: func.return
func.func @f101_window_with_its_own_keys(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %g_cmp: tensor<1x4x16x1xf32>, %g_sel: tensor<1x4x16x1xf32>, %g_win: tensor<1x4x16x1xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>, %k_own: tensor<1x2x16x8xf32>, %v_own: tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32> {
  %cmp = "tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x6xf32>) -> tensor<1x4x16x6xf32>
  %sel = "tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32>
  %win = "tessera.attn_sliding_window"(%q, %k_own, %v_own) {window_size = 5 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m = "tessera.mul"(%g_cmp, %cmp) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m1 = "tessera.mul"(%g_sel, %sel) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m2 = "tessera.mul"(%g_win, %win) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %t = "tessera.add"(%m, %m1) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  // expected-remark @+1 {{[TSR-F101] not raised to native_sparse_attn_fused: operand: found a function argument where 'k' is already another value, wanted the same value}}
  %o = "tessera.add"(%t, %m2) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// CHECK-LABEL: func.func @f102_branch_read_twice(
// CHECK-NEXT: {{.*}}"tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_cmp, %cmp)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_sel, %sel)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_win, %win)
// CHECK-NEXT: {{.*}}"tessera.add"(%m, %m1)
// CHECK-NEXT: {{.*}}"tessera.add"(%t, %m2)
// CHECK-NEXT: func.return
func.func @f102_branch_read_twice(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %g_cmp: tensor<1x4x16x1xf32>, %g_sel: tensor<1x4x16x1xf32>, %g_win: tensor<1x4x16x1xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>) -> (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) {
  %cmp = "tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x6xf32>) -> tensor<1x4x16x6xf32>
  %sel = "tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32>
  %win = "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m = "tessera.mul"(%g_cmp, %cmp) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m1 = "tessera.mul"(%g_sel, %sel) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m2 = "tessera.mul"(%g_win, %win) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %t = "tessera.add"(%m, %m1) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  // expected-remark @+1 {{[TSR-F102] not raised to native_sparse_attn_fused: readers: found 1 more reader(s) of tessera.attn_sliding_window, wanted none outside the chain}}
  %o = "tessera.add"(%t, %m2) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  return %o, %win : tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>
}

// CHECK-LABEL: func.func @f110_scales_differ(
// CHECK-NEXT: {{.*}}"tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true, scale = 5.000000e-01 : f64}
// CHECK-NEXT: {{.*}}"tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_cmp, %cmp)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_sel, %sel)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_win, %win)
// CHECK-NEXT: {{.*}}"tessera.add"(%m, %m1)
// CHECK-NEXT: {{.*}}"tessera.add"(%t, %m2)
// CHECK-NEXT: func.return
func.func @f110_scales_differ(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %g_cmp: tensor<1x4x16x1xf32>, %g_sel: tensor<1x4x16x1xf32>, %g_win: tensor<1x4x16x1xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %cmp = "tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true, scale = 5.000000e-01 : f64} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x6xf32>) -> tensor<1x4x16x6xf32>
  %sel = "tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32>
  %win = "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m = "tessera.mul"(%g_cmp, %cmp) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m1 = "tessera.mul"(%g_sel, %sel) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m2 = "tessera.mul"(%g_win, %win) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %t = "tessera.add"(%m, %m1) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  // expected-remark @+1 {{[TSR-F110] not raised to native_sparse_attn_fused: tessera.attn_top_k_blocks scale: found scale = none, wanted scale = 0.5}}
  %o = "tessera.add"(%t, %m2) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// CHECK-LABEL: func.func @k601_not_causal(
// CHECK-NEXT: {{.*}}"tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = false}
// CHECK-NEXT: {{.*}}"tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = false}
// CHECK-NEXT: {{.*}}"tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = false}
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_cmp, %cmp)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_sel, %sel)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_win, %win)
// CHECK-NEXT: {{.*}}"tessera.add"(%m, %m1)
// CHECK-NEXT: {{.*}}"tessera.add"(%t, %m2)
// CHECK-NEXT: func.return
func.func @k601_not_causal(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %g_cmp: tensor<1x4x16x1xf32>, %g_sel: tensor<1x4x16x1xf32>, %g_win: tensor<1x4x16x1xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %cmp = "tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = false} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x6xf32>) -> tensor<1x4x16x6xf32>
  %sel = "tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = false} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32>
  %win = "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = false} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m = "tessera.mul"(%g_cmp, %cmp) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m1 = "tessera.mul"(%g_sel, %sel) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m2 = "tessera.mul"(%g_win, %win) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %t = "tessera.add"(%m, %m1) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  // expected-remark @+1 {{[TSR-K601] not raised to native_sparse_attn_fused: causal: found causal = false, wanted causal = true}}
  %o = "tessera.add"(%t, %m2) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// CHECK-LABEL: func.func @k602_fewer_blocks_than_forced(
// CHECK-NEXT: {{.*}}"tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 2 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_cmp, %cmp)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_sel, %sel)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_win, %win)
// CHECK-NEXT: {{.*}}"tessera.add"(%m, %m1)
// CHECK-NEXT: {{.*}}"tessera.add"(%t, %m2)
// CHECK-NEXT: func.return
func.func @k602_fewer_blocks_than_forced(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %g_cmp: tensor<1x4x16x1xf32>, %g_sel: tensor<1x4x16x1xf32>, %g_win: tensor<1x4x16x1xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %cmp = "tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x6xf32>) -> tensor<1x4x16x6xf32>
  %sel = "tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 2 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32>
  %win = "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m = "tessera.mul"(%g_cmp, %cmp) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m1 = "tessera.mul"(%g_sel, %sel) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m2 = "tessera.mul"(%g_win, %win) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %t = "tessera.add"(%m, %m1) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  // expected-remark @+1 {{[TSR-K602] not raised to native_sparse_attn_fused: top_k: found top_k = 2, wanted at least 3 forced blocks}}
  %o = "tessera.add"(%t, %m2) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// CHECK-LABEL: func.func @k603_gate_for_all_heads(
// CHECK-NEXT: {{.*}}"tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_cmp, %cmp)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_sel, %sel)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_win, %win)
// CHECK-NEXT: {{.*}}"tessera.add"(%m, %m1)
// CHECK-NEXT: {{.*}}"tessera.add"(%t, %m2)
// CHECK-NEXT: func.return
func.func @k603_gate_for_all_heads(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %g_cmp: tensor<1x1x16x1xf32>, %g_sel: tensor<1x1x16x1xf32>, %g_win: tensor<1x1x16x1xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %cmp = "tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x6xf32>) -> tensor<1x4x16x6xf32>
  %sel = "tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32>
  %win = "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m = "tessera.mul"(%g_cmp, %cmp) : (tensor<1x1x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m1 = "tessera.mul"(%g_sel, %sel) : (tensor<1x1x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m2 = "tessera.mul"(%g_win, %win) : (tensor<1x1x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %t = "tessera.add"(%m, %m1) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  // expected-remark @+1 {{[TSR-K603] not raised to native_sparse_attn_fused: gates: found a gate of 1x1x16x1, wanted 1x4x16x1}}
  %o = "tessera.add"(%t, %m2) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// CHECK-LABEL: func.func @k604_blocks_of_other_tokens(
// CHECK-NEXT: {{.*}}"tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_cmp, %cmp)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_sel, %sel)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_win, %win)
// CHECK-NEXT: {{.*}}"tessera.add"(%m, %m1)
// CHECK-NEXT: {{.*}}"tessera.add"(%t, %m2)
// CHECK-NEXT: func.return
func.func @k604_blocks_of_other_tokens(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %g_cmp: tensor<1x4x16x1xf32>, %g_sel: tensor<1x4x16x1xf32>, %g_win: tensor<1x4x16x1xf32>, %kc: tensor<1x2x3x8xf32>, %vc: tensor<1x2x3x6xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %cmp = "tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x3x8xf32>, tensor<1x2x3x6xf32>) -> tensor<1x4x16x6xf32>
  %sel = "tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32>
  %win = "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m = "tessera.mul"(%g_cmp, %cmp) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m1 = "tessera.mul"(%g_sel, %sel) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m2 = "tessera.mul"(%g_win, %win) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %t = "tessera.add"(%m, %m1) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  // expected-remark @+1 {{[TSR-K604] not raised to native_sparse_attn_fused: tokens: found 3 blocks and no k in the compressed branch, wanted 16 keys, as in k}}
  %o = "tessera.add"(%t, %m2) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// CHECK-LABEL: func.func @k604_compressed_over_fewer_keys(
// CHECK-NEXT: {{.*}}"tessera.attn_compressed_blocks"(%q, %kc, %vc, %k_cmp) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_cmp, %cmp)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_sel, %sel)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_win, %win)
// CHECK-NEXT: {{.*}}"tessera.add"(%m, %m1)
// CHECK-NEXT: {{.*}}"tessera.add"(%t, %m2)
// CHECK-NEXT: func.return
func.func @k604_compressed_over_fewer_keys(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %g_cmp: tensor<1x4x16x1xf32>, %g_sel: tensor<1x4x16x1xf32>, %g_win: tensor<1x4x16x1xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %k_cmp: tensor<1x2x12x8xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %cmp = "tessera.attn_compressed_blocks"(%q, %kc, %vc, %k_cmp) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x6xf32>, tensor<1x2x12x8xf32>) -> tensor<1x4x16x6xf32>
  %sel = "tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32>
  %win = "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m = "tessera.mul"(%g_cmp, %cmp) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m1 = "tessera.mul"(%g_sel, %sel) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m2 = "tessera.mul"(%g_win, %win) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %t = "tessera.add"(%m, %m1) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  // expected-remark @+1 {{[TSR-K604] not raised to native_sparse_attn_fused: tokens: found 12 keys in the compressed branch, wanted 16 keys, as in k}}
  %o = "tessera.add"(%t, %m2) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// No mark: nothing near.

// CHECK-LABEL: func.func @a_stamped_op_is_not_taken(
// CHECK-NEXT: {{.*}}"tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true}
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_cmp, %cmp)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_sel, %sel)
// CHECK-NEXT: {{.*}}"tessera.mul"(%g_win, %win)
// CHECK-NEXT: {{.*}}"tessera.add"(%m, %m1)
// CHECK-NEXT: {{.*}}"tessera.add"(%t, %m2) {tessera.fusion.intent = "matmul_gelu"}
// CHECK-NEXT: func.return
func.func @a_stamped_op_is_not_taken(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>, %g_cmp: tensor<1x4x16x1xf32>, %g_sel: tensor<1x4x16x1xf32>, %g_win: tensor<1x4x16x1xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x6xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32> {
  %cmp = "tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x6xf32>) -> tensor<1x4x16x6xf32>
  %sel = "tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 3 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x6xf32>
  %win = "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64, causal = true} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m = "tessera.mul"(%g_cmp, %cmp) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m1 = "tessera.mul"(%g_sel, %sel) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %m2 = "tessera.mul"(%g_win, %win) : (tensor<1x4x16x1xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %t = "tessera.add"(%m, %m1) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  %o = "tessera.add"(%t, %m2) {tessera.fusion.intent = "matmul_gelu"} : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}

// CHECK-LABEL: func.func @two_branches_are_none(
// CHECK-NEXT: {{.*}}"tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64}
// CHECK-NEXT: {{.*}}"tessera.attn_sliding_window"(%q, %k, %v) {window_size = 3 : i64}
// CHECK-NEXT: {{.*}}"tessera.add"(%a, %b)
// CHECK-NEXT: func.return
func.func @two_branches_are_none(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32> {
  %a = "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 5 : i64} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32>
  %b = "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 3 : i64} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x6xf32>) -> tensor<1x4x16x6xf32>
  %o = "tessera.add"(%a, %b) : (tensor<1x4x16x6xf32>, tensor<1x4x16x6xf32>) -> tensor<1x4x16x6xf32>
  return %o : tensor<1x4x16x6xf32>
}
