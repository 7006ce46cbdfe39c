// RUN: tessera-opt %s --tessera-lower-to-apple_cpu-runtime --remarks --verify-diagnostics | filecheck %s

// The same on the CPU target.

// CHECK-LABEL: func.func @attention_descriptor(
// CHECK-NEXT: {{.*}}@tessera_apple_cpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"]{{.*}}tessera.fusion.source = "descriptor"
// CHECK-NEXT: func.return
func.func @attention_descriptor(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @gelu_rediscovered(
// CHECK-NEXT: {{.*}}@tessera_apple_cpu_matmul_gelu_f32(%x, %w) {{{.*}}roles = ["x", "w"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @gelu_rediscovered(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.gelu"(%h) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @flash_attn_is_the_descriptor(
// CHECK-NEXT: {{.*}}@tessera_apple_cpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"], scale = 3.5355339059327373e-01 : f64{{.*}}tessera.fusion.source = "composite_op", transpose_b = true
// CHECK-NEXT: func.return
func.func @flash_attn_is_the_descriptor(%q: tensor<2x4x6x8xf32>, %k: tensor<2x2x7x8xf32>, %v: tensor<2x2x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %o = "tessera.flash_attn"(%q, %k, %v) : (tensor<2x4x6x8xf32>, tensor<2x2x7x8xf32>, tensor<2x2x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @rmsnorm_descriptor(
// CHECK-NEXT: {{.*}}@tessera_apple_cpu_matmul_rmsnorm_f32(%x, %w, %n) {{{.*}}roles = ["x", "w", "weight"]{{.*}}tessera.fusion.source = "descriptor"
// CHECK-NEXT: func.return
func.func @rmsnorm_descriptor(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>, %n: tensor<6xf32>) -> tensor<2x3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %o = "tessera.rmsnorm"(%h, %n) {tessera.fusion.intent = "matmul_rmsnorm"} : (tensor<2x3x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  return %o : tensor<2x3x6xf32>
}

// CHECK-LABEL: func.func @contradicted_and_fused_as_something_else(
// CHECK-NEXT: {{.*}}@tessera_apple_cpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @contradicted_and_fused_as_something_else(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  // expected-warning @+1 {{[TSR-F112] intent 'matmul_gelu' is not what the program says: terminal op: found tessera.matmul, wanted tessera.gelu; runs instead: matmul_softmax_matmul (rediscovered)}}
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_gelu"} : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}

// CHECK-LABEL: func.func @contradicted_by_another_op(
// CHECK-NEXT: {{.*}}@tessera_apple_cpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_cpu_exp_f32(%h)
// CHECK-NEXT: {{.*}}@tessera_apple_cpu_gelu_f32(%exp)
// CHECK-NEXT: func.return
func.func @contradicted_by_another_op(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %exp = "tessera.exp"(%h) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  // expected-warning @+1 {{[TSR-F101] intent 'matmul_gelu' is not what the program says: producer: found tessera.exp, wanted tessera.matmul; runs instead: the unfused ops}}
  %o = "tessera.gelu"(%exp) {tessera.fusion.intent = "matmul_gelu"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}
