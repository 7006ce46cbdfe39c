// RUN: tessera-opt %s --tessera-normalise-graph --tessera-matmul-softmax-matmul-fusion-to-apple_gpu --tessera-lower-to-apple_gpu --remarks --verify-diagnostics | filecheck %s

// A pipeline without an intent's pass says so.

// CHECK-LABEL: func.func @f113_no_pass_for_the_intent(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_gelu_f32(%h)
// CHECK-NEXT: func.return
func.func @f113_no_pass_for_the_intent(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  // expected-warning @+1 {{[TSR-F113] intent 'matmul_gelu' is not what the program says: consumer: found "matmul_gelu", wanted a fusion pass for it; runs instead: the unfused ops}}
  %o = "tessera.gelu"(%h) {tessera.fusion.intent = "matmul_gelu"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @other_intents_are_consumed(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"]{{.*}}tessera.fusion.source = "descriptor"
// CHECK-NEXT: func.return
func.func @other_intents_are_consumed(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x8x7xf32>, %v: tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32> {
  %s = "tessera.matmul"(%q, %k) : (tensor<2x4x6x8xf32>, tensor<2x4x8x7xf32>) -> tensor<2x4x6x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<2x4x6x7xf32>) -> tensor<2x4x6x7xf32>
  %o = "tessera.matmul"(%p, %v) {tessera.fusion.intent = "matmul_softmax_matmul"} : (tensor<2x4x6x7xf32>, tensor<2x4x7x5xf32>) -> tensor<2x4x6x5xf32>
  return %o : tensor<2x4x6x5xf32>
}
