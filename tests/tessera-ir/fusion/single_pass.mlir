// RUN: tessera-opt %s --tessera-matmul-gelu-fusion-to-apple_gpu --remarks --verify-diagnostics | filecheck %s

// A pass consumes its own kernel and leaves the rest, intents and all.

// CHECK-LABEL: func.func @gelu_is_fused(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_gelu_f32(%x, %w, %b) {{{.*}}roles = ["x", "w", "bias"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @gelu_is_fused(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %h1 = "tessera.add"(%b, %h) : (tensor<6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.gelu"(%h1) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @softmax_waits_for_its_own_pass(
// CHECK-NEXT: {{.*}}"tessera.matmul"(%a, %b)
// CHECK-NEXT: {{.*}}"tessera.softmax"(%s) {tessera.fusion.intent = "matmul_softmax"}
// CHECK-NEXT: func.return
func.func @softmax_waits_for_its_own_pass(%a: tensor<6x8xf32>, %b: tensor<8x7xf32>) -> tensor<6x7xf32> {
  %s = "tessera.matmul"(%a, %b) : (tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<6x7xf32>
  %o = "tessera.softmax"(%s) {tessera.fusion.intent = "matmul_softmax"} : (tensor<6x7xf32>) -> tensor<6x7xf32>
  return %o : tensor<6x7xf32>
}

// CHECK-LABEL: func.func @an_intent_that_holds_elsewhere(
// CHECK-NEXT: {{.*}}"tessera.matmul"(%x, %w)
// CHECK-NEXT: {{.*}}"tessera.exp"(%h)
// CHECK-NEXT: {{.*}}"tessera.gelu"(%exp) {tessera.fusion.intent = "matmul_rmsnorm"}
// CHECK-NEXT: func.return
func.func @an_intent_that_holds_elsewhere(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %exp = "tessera.exp"(%h) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.gelu"(%exp) {tessera.fusion.intent = "matmul_rmsnorm"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}
