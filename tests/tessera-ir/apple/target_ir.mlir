// RUN: tessera-opt %s --split-input-file --verify-diagnostics | filecheck %s

// What a call must say.

// CHECK: tessera_apple.declare @tessera_apple_gpu_exp_f32
// CHECK-LABEL: func.func @a_call_is_read_as_it_is_printed(
// CHECK-NEXT: %o = tessera_apple.gpu_call @tessera_apple_gpu_exp_f32(%x) {op = "exp"} : (tensor<3xf32>) -> tensor<3xf32>
tessera_apple.declare @tessera_apple_gpu_exp_f32
func.func @a_call_is_read_as_it_is_printed(%x: tensor<3xf32>) -> tensor<3xf32> {
  %o = tessera_apple.gpu_call @tessera_apple_gpu_exp_f32(%x) {op = "exp"} : (tensor<3xf32>) -> tensor<3xf32>
  return %o : tensor<3xf32>
}

// -----

tessera_apple.declare @tessera_apple_gpu_exp_f32
func.func @t001_without_op(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{[TSR-T001] 'tessera_apple.gpu_call' op needs}}
  %o = tessera_apple.gpu_call @tessera_apple_gpu_exp_f32(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %o : tensor<3xf32>
}

// -----

tessera_apple.declare @tessera_apple_cpu_matmul_gelu_f32
func.func @t001_roles_without_operands(%x: tensor<3x8xf32>, %w: tensor<8x4xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{[TSR-T001] 'tessera_apple.cpu_call' op has 2 operands and 1 roles}}
  %o = tessera_apple.cpu_call @tessera_apple_cpu_matmul_gelu_f32(%x, %w) {op = "matmul_gelu", roles = ["x"], tessera.fusion.kernel = "matmul_gelu", tessera.fusion.source = "descriptor"} : (tensor<3x8xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}

// -----

tessera_apple.declare @tessera_apple_cpu_matmul_gelu_f32
func.func @t001_no_such_source(%x: tensor<3x8xf32>, %w: tensor<8x4xf32>) -> tensor<3x4xf32> {
  // expected-error @+1 {{[TSR-T001] 'tessera_apple.cpu_call' op has tessera.fusion.source = "guess"}}
  %o = tessera_apple.cpu_call @tessera_apple_cpu_matmul_gelu_f32(%x, %w) {op = "matmul_gelu", roles = ["x", "w"], tessera.fusion.kernel = "matmul_gelu", tessera.fusion.source = "guess"} : (tensor<3x8xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  return %o : tensor<3x4xf32>
}
