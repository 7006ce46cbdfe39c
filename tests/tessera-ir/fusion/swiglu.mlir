// RUN: tessera-opt %s --tessera-lower-to-apple_gpu-runtime --remarks --verify-diagnostics | filecheck %s

// swiglu_fused as one call: every option, every refusal.

// What the kernel honours.

// CHECK-LABEL: func.func @plain(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_swiglu_f32(%x, %w_gate, %w_up, %w_down) {{{.*}}roles = ["x", "w_gate", "w_up", "w_down"]{{.*}}tessera.fusion.source = "composite_op"
// CHECK-NEXT: func.return
func.func @plain(%x: tensor<3x8xf32>, %w_gate: tensor<8x6xf32>, %w_up: tensor<8x6xf32>, %w_down: tensor<6x4xf32>, %b_gate: tensor<6xf32>, %b_up: tensor<6xf32>, %b_down: tensor<4xf32>) -> tensor<3x4xf32> {
  %o = "tessera.swiglu_fused"(%x, %w_gate, %w_up, %w_down) : (tensor<3x8xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @biases(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_swiglu_f32(%x, %w_gate, %w_up, %w_down, %b_gate, %b_up, %b_down) {{{.*}}roles = ["x", "w_gate", "w_up", "w_down", "b_gate", "b_up", "b_down"]{{.*}}tessera.fusion.source = "composite_op"
// CHECK-NEXT: func.return
func.func @biases(%x: tensor<3x8xf32>, %w_gate: tensor<8x6xf32>, %w_up: tensor<8x6xf32>, %w_down: tensor<6x4xf32>, %b_gate: tensor<6xf32>, %b_up: tensor<6xf32>, %b_down: tensor<4xf32>) -> tensor<3x4xf32> {
  %o = "tessera.swiglu_fused"(%x, %w_gate, %w_up, %w_down, %b_gate, %b_up, %b_down) : (tensor<3x8xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<6x4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @packed_in_halves(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_swiglu_f32(%x, %w_gate_up, %w_down, %b_gate_up, %b_down) {{{.*}}packed = "halves", roles = ["x", "w_gate", "w_down", "b_gate", "b_down"]{{.*}}tessera.fusion.source = "composite_op"
// CHECK-NEXT: func.return
func.func @packed_in_halves(%x: tensor<3x8xf32>, %w_gate_up: tensor<8x12xf32>, %w_down: tensor<6x4xf32>, %b_gate_up: tensor<12xf32>, %b_down: tensor<4xf32>) -> tensor<3x4xf32> {
  %o = "tessera.swiglu_fused"(%x, %w_gate_up, %w_down, %b_gate_up, %b_down) {packed = "halves"} : (tensor<3x8xf32>, tensor<8x12xf32>, tensor<6x4xf32>, tensor<12xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @packed_interleaved(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_swiglu_f32(%x, %w_gate_up, %w_down, %b_gate_up) {{{.*}}packed = "interleaved", roles = ["x", "w_gate", "w_down", "b_gate"]{{.*}}tessera.fusion.source = "composite_op"
// CHECK-NEXT: func.return
func.func @packed_interleaved(%x: tensor<3x8xf32>, %w_gate_up: tensor<8x12xf32>, %w_down: tensor<6x4xf32>, %b_gate_up: tensor<12xf32>, %b_down: tensor<4xf32>) -> tensor<3x4xf32> {
  %o = "tessera.swiglu_fused"(%x, %w_gate_up, %w_down, %b_gate_up) {packed = "interleaved"} : (tensor<3x8xf32>, tensor<8x12xf32>, tensor<6x4xf32>, tensor<12xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @clamped(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_swiglu_f32(%x, %w_gate, %w_up, %w_down) {alpha = 1.702000e+00 : f64, limit = 7.000000e+00 : f64{{.*}}roles = ["x", "w_gate", "w_up", "w_down"]{{.*}}tessera.fusion.source = "composite_op", up_offset = 1.000000e+00 : f64
// CHECK-NEXT: func.return
func.func @clamped(%x: tensor<3x8xf32>, %w_gate: tensor<8x6xf32>, %w_up: tensor<8x6xf32>, %w_down: tensor<6x4xf32>, %b_gate: tensor<6xf32>, %b_up: tensor<6xf32>, %b_down: tensor<4xf32>) -> tensor<3x4xf32> {
  %o = "tessera.swiglu_fused"(%x, %w_gate, %w_up, %w_down) {limit = 7.000000e+00 : f64, alpha = 1.702000e+00 : f64, up_offset = 1.000000e+00 : f64} : (tensor<3x8xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @batched_weights(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_swiglu_f32(%x, %w_gate, %w_up, %w_down) {{{.*}}roles = ["x", "w_gate", "w_up", "w_down"]{{.*}}tessera.fusion.source = "composite_op"
// CHECK-NEXT: func.return
func.func @batched_weights(%x: tensor<4x3x8xf32>, %w_gate: tensor<4x8x6xf32>, %w_up: tensor<4x8x6xf32>, %w_down: tensor<4x6x4xf32>, %b_gate: tensor<6xf32>, %b_up: tensor<6xf32>, %b_down: tensor<4xf32>) -> tensor<4x3x4xf32> {
  %o = "tessera.swiglu_fused"(%x, %w_gate, %w_up, %w_down) : (tensor<4x3x8xf32>, tensor<4x8x6xf32>, tensor<4x8x6xf32>, tensor<4x6x4xf32>) -> tensor<4x3x4xf32>
  return %o : tensor<4x3x4xf32>
}

// What it refuses: the op runs on its own.

// CHECK-LABEL: func.func @k401_limit_of_zero(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_swiglu_fused_f32(%x, %w_gate, %w_up, %w_down)
// CHECK-NEXT: func.return
func.func @k401_limit_of_zero(%x: tensor<3x8xf32>, %w_gate: tensor<8x6xf32>, %w_up: tensor<8x6xf32>, %w_down: tensor<6x4xf32>, %b_gate: tensor<6xf32>, %b_up: tensor<6xf32>, %b_down: tensor<4xf32>) -> tensor<3x4xf32> {
  // expected-warning @+1 {{[TSR-K401] 'tessera.swiglu_fused' is not fused as swiglu: limit: found limit = 0.0, wanted a limit above 0, or none}}
  %o = "tessera.swiglu_fused"(%x, %w_gate, %w_up, %w_down) {limit = 0.000000e+00 : f64} : (tensor<3x8xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}
