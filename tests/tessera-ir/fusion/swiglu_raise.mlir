// RUN: tessera-opt %s --tessera-swiglu-fusion --remarks --verify-diagnostics | filecheck %s

// Spelled-out SwiGLU becomes swiglu_fused.

// Chains that are raised.

// CHECK-LABEL: func.func @silu_times_up(
// CHECK-NEXT: {{.*}}"tessera.swiglu_fused"(%x, %w_gate, %w_up, %w_down) {packed = "none", alpha = 1.000000e+00 : f64, up_offset = 0.000000e+00 : f64}
// CHECK-NEXT: func.return
func.func @silu_times_up(%x: tensor<3x8xf32>, %w_gate: tensor<8x6xf32>, %w_up: tensor<8x6xf32>, %w_down: tensor<6x4xf32>) -> tensor<3x4xf32> {
  %g = "tessera.matmul"(%x, %w_gate) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %u = "tessera.matmul"(%x, %w_up) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %s = "tessera.silu"(%g) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %a = "tessera.mul"(%s, %u) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.matmul"(%a, %w_down) : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @up_times_silu(
// CHECK-NEXT: {{.*}}"tessera.swiglu_fused"(%x, %w_gate, %w_up, %w_down) {packed = "none", alpha = 1.000000e+00 : f64, up_offset = 0.000000e+00 : f64}
// CHECK-NEXT: func.return
func.func @up_times_silu(%x: tensor<3x8xf32>, %w_gate: tensor<8x6xf32>, %w_up: tensor<8x6xf32>, %w_down: tensor<6x4xf32>) -> tensor<3x4xf32> {
  %g = "tessera.matmul"(%x, %w_gate) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %u = "tessera.matmul"(%x, %w_up) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %s = "tessera.silu"(%g) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %a = "tessera.mul"(%u, %s) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.matmul"(%a, %w_down) : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @silu_mul_op(
// CHECK-NEXT: {{.*}}"tessera.swiglu_fused"(%x, %w_gate, %w_up, %w_down) {packed = "none", alpha = 1.000000e+00 : f64, up_offset = 0.000000e+00 : f64}
// CHECK-NEXT: func.return
func.func @silu_mul_op(%x: tensor<3x8xf32>, %w_gate: tensor<8x6xf32>, %w_up: tensor<8x6xf32>, %w_down: tensor<6x4xf32>) -> tensor<3x4xf32> {
  %g = "tessera.matmul"(%x, %w_gate) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %u = "tessera.matmul"(%x, %w_up) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %a = "tessera.silu_mul"(%g, %u) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.matmul"(%a, %w_down) : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @biases(
// CHECK-NEXT: {{.*}}"tessera.swiglu_fused"(%x, %w_gate, %w_up, %w_down, %b_gate, %b_up) {packed = "none", alpha = 1.000000e+00 : f64, up_offset = 0.000000e+00 : f64}
// CHECK-NEXT: func.return
func.func @biases(%x: tensor<3x8xf32>, %w_gate: tensor<8x6xf32>, %w_up: tensor<8x6xf32>, %w_down: tensor<6x4xf32>, %b_gate: tensor<6xf32>, %b_up: tensor<6xf32>) -> tensor<3x4xf32> {
  %g = "tessera.matmul"(%x, %w_gate) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %u = "tessera.matmul"(%x, %w_up) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %g1 = "tessera.add"(%g, %b_gate) : (tensor<3x6xf32>, tensor<6xf32>) -> tensor<3x6xf32>
  %u1 = "tessera.add"(%b_up, %u) : (tensor<6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %s = "tessera.silu"(%g1) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %a = "tessera.mul"(%s, %u1) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.matmul"(%a, %w_down) : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @rows_of_rank_3(
// CHECK-NEXT: {{.*}}"tessera.swiglu_fused"(%x, %w_gate, %w_up, %w_down) {packed = "none", alpha = 1.000000e+00 : f64, up_offset = 0.000000e+00 : f64}
// CHECK-NEXT: func.return
func.func @rows_of_rank_3(%x: tensor<2x3x8xf32>, %w_gate: tensor<8x6xf32>, %w_up: tensor<8x6xf32>, %w_down: tensor<6x4xf32>) -> tensor<2x3x4xf32> {
  %g = "tessera.matmul"(%x, %w_gate) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %u = "tessera.matmul"(%x, %w_up) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %s = "tessera.silu"(%g) : (tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  %a = "tessera.mul"(%s, %u) : (tensor<2x3x6xf32>, tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  %o = "tessera.matmul"(%a, %w_down) : (tensor<2x3x6xf32>, tensor<6x4xf32>) -> tensor<2x3x4xf32>
  return %o : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @reshape_between(
// CHECK-NEXT: {{.*}}"tessera.reshape"(%x)
// CHECK-NEXT: {{.*}}"tessera.swiglu_fused"(%0, %w_gate, %w_up, %w_down) {packed = "none", alpha = 1.000000e+00 : f64, up_offset = 0.000000e+00 : f64}
// CHECK-NEXT: func.return
func.func @reshape_between(%x: tensor<2x3x8xf32>, %w_gate: tensor<8x6xf32>, %w_up: tensor<8x6xf32>, %w_down: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %g = "tessera.matmul"(%x, %w_gate) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %u = "tessera.matmul"(%x, %w_up) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %s = "tessera.silu"(%g) : (tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  %a = "tessera.mul"(%s, %u) : (tensor<2x3x6xf32>, tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  %reshape = "tessera.reshape"(%a) : (tensor<2x3x6xf32>) -> tensor<6x6xf32>
  %o = "tessera.matmul"(%reshape, %w_down) : (tensor<6x6xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  return %o : tensor<6x4xf32>
}

// CHECK-LABEL: func.func @packed_in_halves(
// CHECK-NEXT: {{.*}}"tessera.swiglu_fused"(%x, %w, %w_down) {packed = "halves", alpha = 1.000000e+00 : f64, up_offset = 0.000000e+00 : f64}
// CHECK-NEXT: func.return
func.func @packed_in_halves(%x: tensor<3x8xf32>, %w: tensor<8x12xf32>, %w_down: tensor<6x4xf32>) -> tensor<3x4xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x12xf32>) -> tensor<3x12xf32>
  %g = "tessera.slice"(%h) {starts = array<i64: 0, 0>, stops = array<i64: 9223372036854775807, 6>, steps = array<i64: 1, 1>} : (tensor<3x12xf32>) -> tensor<3x6xf32>
  %u = "tessera.slice"(%h) {starts = array<i64: 0, 6>, stops = array<i64: 9223372036854775807, 12>, steps = array<i64: 1, 1>} : (tensor<3x12xf32>) -> tensor<3x6xf32>
  %s = "tessera.silu"(%g) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %a = "tessera.mul"(%s, %u) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.matmul"(%a, %w_down) : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @packed_interleaved(
// CHECK-NEXT: {{.*}}"tessera.swiglu_fused"(%x, %w, %w_down) {packed = "interleaved", alpha = 1.000000e+00 : f64, up_offset = 0.000000e+00 : f64}
// CHECK-NEXT: func.return
func.func @packed_interleaved(%x: tensor<3x8xf32>, %w: tensor<8x12xf32>, %w_down: tensor<6x4xf32>) -> tensor<3x4xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x12xf32>) -> tensor<3x12xf32>
  %g = "tessera.slice"(%h) {starts = array<i64: 0, 0>, stops = array<i64: 9223372036854775807, 9223372036854775807>, steps = array<i64: 1, 2>} : (tensor<3x12xf32>) -> tensor<3x6xf32>
  %u = "tessera.slice"(%h) {starts = array<i64: 0, 1>, stops = array<i64: 9223372036854775807, 9223372036854775807>, steps = array<i64: 1, 2>} : (tensor<3x12xf32>) -> tensor<3x6xf32>
  %s = "tessera.silu"(%g) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %a = "tessera.mul"(%s, %u) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.matmul"(%a, %w_down) : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @one_product_twice(
// CHECK-NEXT: {{.*}}"tessera.swiglu_fused"(%x, %w, %w, %w_down) {packed = "none", alpha = 1.000000e+00 : f64, up_offset = 0.000000e+00 : f64}
// CHECK-NEXT: func.return
func.func @one_product_twice(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>, %w_down: tensor<6x4xf32>) -> tensor<3x4xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %s = "tessera.silu"(%h) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %a = "tessera.mul"(%s, %h) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.matmul"(%a, %w_down) : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// Near misses stay as they are.

// CHECK-LABEL: func.func @f102_product_read_twice(
// CHECK-NEXT: {{.*}}"tessera.matmul"(%x, %w_gate)
// CHECK-NEXT: {{.*}}"tessera.matmul"(%x, %w_up)
// CHECK-NEXT: {{.*}}"tessera.silu"(%g)
// CHECK-NEXT: {{.*}}"tessera.mul"(%s, %u)
// CHECK-NEXT: {{.*}}"tessera.matmul"(%a, %w_down)
// CHECK-NEXT: func.return
func.func @f102_product_read_twice(%x: tensor<3x8xf32>, %w_gate: tensor<8x6xf32>, %w_up: tensor<8x6xf32>, %w_down: tensor<6x4xf32>) -> (tensor<3x4xf32>, tensor<3x6xf32>) {
  %g = "tessera.matmul"(%x, %w_gate) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %u = "tessera.matmul"(%x, %w_up) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %s = "tessera.silu"(%g) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %a = "tessera.mul"(%s, %u) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  // expected-remark @+1 {{[TSR-F102] not raised to swiglu_fused: readers: found 1 more reader(s) of tessera.mul, wanted none outside the chain}}
  %o = "tessera.matmul"(%a, %w_down) : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o, %a : tensor<3x4xf32>, tensor<3x6xf32>
}

// CHECK-LABEL: func.func @f101_gelu_is_another_gate(
// CHECK-NEXT: {{.*}}"tessera.matmul"(%x, %w_gate)
// CHECK-NEXT: {{.*}}"tessera.matmul"(%x, %w_up)
// CHECK-NEXT: {{.*}}"tessera.gelu"(%g)
// CHECK-NEXT: {{.*}}"tessera.mul"(%s, %u)
// CHECK-NEXT: {{.*}}"tessera.matmul"(%a, %w_down)
// CHECK-NEXT: func.return
func.func @f101_gelu_is_another_gate(%x: tensor<3x8xf32>, %w_gate: tensor<8x6xf32>, %w_up: tensor<8x6xf32>, %w_down: tensor<6x4xf32>) -> tensor<3x4xf32> {
  %g = "tessera.matmul"(%x, %w_gate) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %u = "tessera.matmul"(%x, %w_up) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %s = "tessera.gelu"(%g) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %a = "tessera.mul"(%s, %u) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.matmul"(%a, %w_down) : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @f101_gate_and_up_of_two_values(
// CHECK-NEXT: {{.*}}"tessera.matmul"(%x, %w_gate)
// CHECK-NEXT: {{.*}}"tessera.matmul"(%y, %w_up)
// CHECK-NEXT: {{.*}}"tessera.silu"(%g)
// CHECK-NEXT: {{.*}}"tessera.mul"(%s, %u)
// CHECK-NEXT: {{.*}}"tessera.matmul"(%a, %w_down)
// CHECK-NEXT: func.return
func.func @f101_gate_and_up_of_two_values(%x: tensor<3x8xf32>, %w_gate: tensor<8x6xf32>, %w_up: tensor<8x6xf32>, %w_down: tensor<6x4xf32>, %y: tensor<3x8xf32>) -> tensor<3x4xf32> {
  %g = "tessera.matmul"(%x, %w_gate) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %u = "tessera.matmul"(%y, %w_up) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %s = "tessera.silu"(%g) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %a = "tessera.mul"(%s, %u) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  // expected-remark @+1 {{[TSR-F101] not raised to swiglu_fused: operand: found a function argument where 'x' is already another value, wanted the same value}}
  %o = "tessera.matmul"(%a, %w_down) : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @f106_no_kernel_for_f64(
// CHECK-NEXT: {{.*}}"tessera.matmul"(%x, %w_gate)
// CHECK-NEXT: {{.*}}"tessera.matmul"(%x, %w_up)
// CHECK-NEXT: {{.*}}"tessera.silu_mul"(%g, %u)
// CHECK-NEXT: {{.*}}"tessera.matmul"(%a, %w_down)
// CHECK-NEXT: func.return
func.func @f106_no_kernel_for_f64(%x: tensor<3x8xf64>, %w_gate: tensor<8x6xf64>, %w_up: tensor<8x6xf64>, %w_down: tensor<6x4xf64>) -> tensor<3x4xf64> {
  %g = "tessera.matmul"(%x, %w_gate) : (tensor<3x8xf64>, tensor<8x6xf64>) -> tensor<3x6xf64>
  %u = "tessera.matmul"(%x, %w_up) : (tensor<3x8xf64>, tensor<8x6xf64>) -> tensor<3x6xf64>
  %a = "tessera.silu_mul"(%g, %u) : (tensor<3x6xf64>, tensor<3x6xf64>) -> tensor<3x6xf64>
  // expected-remark @+1 {{[TSR-F106] not raised to swiglu_fused: element type: found f64, wanted one of f32, f16, bf16 for all}}
  %o = "tessera.matmul"(%a, %w_down) : (tensor<3x6xf64>, tensor<6x4xf64>) -> tensor<3x4xf64>
  return %o : tensor<3x4xf64>
}

// CHECK-LABEL: func.func @halves_the_wrong_way_round_are_not_near(
// CHECK-NEXT: {{.*}}"tessera.matmul"(%x, %w)
// CHECK-NEXT: {{.*}}"tessera.slice"(%h) {starts = array<i64: 0, 6>, stops = array<i64: 9223372036854775807, 12>, steps = array<i64: 1, 1>}
// CHECK-NEXT: {{.*}}"tessera.slice"(%h) {starts = array<i64: 0, 0>, stops = array<i64: 9223372036854775807, 6>, steps = array<i64: 1, 1>}
// CHECK-NEXT: {{.*}}"tessera.silu"(%g)
// CHECK-NEXT: {{.*}}"tessera.mul"(%s, %u)
// CHECK-NEXT: {{.*}}"tessera.matmul"(%a, %w_down)
// CHECK-NEXT: func.return
func.func @halves_the_wrong_way_round_are_not_near(%x: tensor<3x8xf32>, %w: tensor<8x12xf32>, %w_down: tensor<6x4xf32>) -> tensor<3x4xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x12xf32>) -> tensor<3x12xf32>
  %g = "tessera.slice"(%h) {starts = array<i64: 0, 6>, stops = array<i64: 9223372036854775807, 12>, steps = array<i64: 1, 1>} : (tensor<3x12xf32>) -> tensor<3x6xf32>
  %u = "tessera.slice"(%h) {starts = array<i64: 0, 0>, stops = array<i64: 9223372036854775807, 6>, steps = array<i64: 1, 1>} : (tensor<3x12xf32>) -> tensor<3x6xf32>
  %s = "tessera.silu"(%g) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %a = "tessera.mul"(%s, %u) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.matmul"(%a, %w_down) : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// No mark: nothing near.

// CHECK-LABEL: func.func @a_stamped_op_is_not_taken(
// CHECK-NEXT: {{.*}}"tessera.matmul"(%x, %w_gate)
// CHECK-NEXT: {{.*}}"tessera.matmul"(%x, %w_up)
// CHECK-NEXT: {{.*}}"tessera.silu"(%g)
// CHECK-NEXT: {{.*}}"tessera.mul"(%s, %u)
// CHECK-NEXT: {{.*}}"tessera.matmul"(%a, %w_down) {tessera.fusion.intent = "matmul_gelu"}
// CHECK-NEXT: func.return
func.func @a_stamped_op_is_not_taken(%x: tensor<3x8xf32>, %w_gate: tensor<8x6xf32>, %w_up: tensor<8x6xf32>, %w_down: tensor<6x4xf32>) -> tensor<3x4xf32> {
  %g = "tessera.matmul"(%x, %w_gate) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %u = "tessera.matmul"(%x, %w_up) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %s = "tessera.silu"(%g) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %a = "tessera.mul"(%s, %u) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.matmul"(%a, %w_down) {tessera.fusion.intent = "matmul_gelu"} : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @a_plain_mlp_is_none(
// CHECK-NEXT: {{.*}}"tessera.matmul"(%x, %w)
// CHECK-NEXT: {{.*}}"tessera.silu"(%h)
// CHECK-NEXT: {{.*}}"tessera.matmul"(%s, %w_down)
// CHECK-NEXT: func.return
func.func @a_plain_mlp_is_none(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>, %w_down: tensor<6x4xf32>) -> tensor<3x4xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %s = "tessera.silu"(%h) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.matmul"(%s, %w_down) : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @a_product_of_an_argument_is_none(
// CHECK-NEXT: {{.*}}"tessera.mul"(%x, %u)
// CHECK-NEXT: {{.*}}"tessera.matmul"(%a, %w_down)
// CHECK-NEXT: func.return
func.func @a_product_of_an_argument_is_none(%x: tensor<3x6xf32>, %u: tensor<3x6xf32>, %w_down: tensor<6x4xf32>) -> tensor<3x4xf32> {
  %a = "tessera.mul"(%x, %u) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.matmul"(%a, %w_down) : (tensor<3x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}
