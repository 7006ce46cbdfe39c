// RUN: tessera-opt %s --tessera-lower-to-apple_gpu-runtime --remarks --verify-diagnostics | filecheck %s

// Zeros for rows without a key: implied by softmax, an option, or no business of a kernel.

// CHECK-LABEL: func.func @nan_becomes_zero(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}mask_guard = false, nan_guard = true
// CHECK-NEXT: func.return
func.func @nan_becomes_zero(%q: tensor<2x6x8xf32>, %k: tensor<2x8x7xf32>, %v: tensor<2x7x5xf32>) -> tensor<2x6x5xf32> {
  %zero = "tessera.const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %s = "tessera.matmul"(%q, %k) : (tensor<2x6x8xf32>, tensor<2x8x7xf32>) -> tensor<2x6x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %c = "tessera.isnan"(%p) : (tensor<2x6x7xf32>) -> tensor<2x6x7xi1>
  %g = "tessera.select"(%c, %zero, %p) : (tensor<2x6x7xi1>, tensor<f32>, tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %o = "tessera.matmul"(%g, %v) : (tensor<2x6x7xf32>, tensor<2x7x5xf32>) -> tensor<2x6x5xf32>
  return %o : tensor<2x6x5xf32>
}

// CHECK-LABEL: func.func @rows_of_scores_without_a_key_are_zero_anyway(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v, %m) {{{.*}}mask_guard = false, nan_guard = false
// CHECK-NEXT: func.return
func.func @rows_of_scores_without_a_key_are_zero_anyway(%q: tensor<2x6x8xf32>, %k: tensor<2x8x7xf32>, %v: tensor<2x7x5xf32>, %m: tensor<6x7xf32>) -> tensor<2x6x5xf32> {
  %inf = "tessera.const"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %zero = "tessera.const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %s = "tessera.matmul"(%q, %k) : (tensor<2x6x8xf32>, tensor<2x8x7xf32>) -> tensor<2x6x7xf32>
  %a = "tessera.add"(%s, %m) : (tensor<2x6x7xf32>, tensor<6x7xf32>) -> tensor<2x6x7xf32>
  %p = "tessera.softmax"(%a) : (tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %e = "tessera.cmp"(%a, %inf) {kind = "eq"} : (tensor<2x6x7xf32>, tensor<f32>) -> tensor<2x6x7xi1>
  %n = "tessera.not"(%e) : (tensor<2x6x7xi1>) -> tensor<2x6x7xi1>
  %y = "tessera.reduce_any"(%n) {axes = [-1], keepdims = true} : (tensor<2x6x7xi1>) -> tensor<2x6x1xi1>
  %c = "tessera.not"(%y) : (tensor<2x6x1xi1>) -> tensor<2x6x1xi1>
  %g = "tessera.select"(%c, %zero, %p) : (tensor<2x6x1xi1>, tensor<f32>, tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %o = "tessera.matmul"(%g, %v) : (tensor<2x6x7xf32>, tensor<2x7x5xf32>) -> tensor<2x6x5xf32>
  return %o : tensor<2x6x5xf32>
}

// CHECK-LABEL: func.func @rows_that_the_mask_removes(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v, %m) {{{.*}}mask_guard = true, nan_guard = false
// CHECK-NEXT: func.return
func.func @rows_that_the_mask_removes(%q: tensor<2x6x8xf32>, %k: tensor<2x8x7xf32>, %v: tensor<2x7x5xf32>, %m: tensor<6x7xf32>) -> tensor<2x6x5xf32> {
  %inf = "tessera.const"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %zero = "tessera.const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %s = "tessera.matmul"(%q, %k) : (tensor<2x6x8xf32>, tensor<2x8x7xf32>) -> tensor<2x6x7xf32>
  %a = "tessera.add"(%s, %m) : (tensor<2x6x7xf32>, tensor<6x7xf32>) -> tensor<2x6x7xf32>
  %p = "tessera.softmax"(%a) : (tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %y = "tessera.reduce_max"(%m) {axes = [-1], keepdims = true} : (tensor<6x7xf32>) -> tensor<6x1xf32>
  %c = "tessera.cmp"(%inf, %y) {kind = "eq"} : (tensor<f32>, tensor<6x1xf32>) -> tensor<6x1xi1>
  %g = "tessera.select"(%c, %zero, %p) : (tensor<6x1xi1>, tensor<f32>, tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %o = "tessera.matmul"(%g, %v) : (tensor<2x6x7xf32>, tensor<2x7x5xf32>) -> tensor<2x6x5xf32>
  return %o : tensor<2x6x5xf32>
}

// CHECK-LABEL: func.func @rows_that_keep_some_key(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v, %m) {{{.*}}mask_guard = false, nan_guard = false
// CHECK-NEXT: func.return
func.func @rows_that_keep_some_key(%q: tensor<2x6x8xf32>, %k: tensor<2x8x7xf32>, %v: tensor<2x7x5xf32>, %m: tensor<6x7xi1>) -> tensor<2x6x5xf32> {
  %inf = "tessera.const"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %zero = "tessera.const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %s = "tessera.matmul"(%q, %k) : (tensor<2x6x8xf32>, tensor<2x8x7xf32>) -> tensor<2x6x7xf32>
  %a = "tessera.select"(%m, %s, %inf) : (tensor<6x7xi1>, tensor<2x6x7xf32>, tensor<f32>) -> tensor<2x6x7xf32>
  %p = "tessera.softmax"(%a) : (tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %r = "tessera.reduce_any"(%m) {axes = [-1]} : (tensor<6x7xi1>) -> tensor<6xi1>
  %c = "tessera.reshape"(%r) : (tensor<6xi1>) -> tensor<6x1xi1>
  %g = "tessera.select"(%c, %p, %zero) : (tensor<6x1xi1>, tensor<2x6x7xf32>, tensor<f32>) -> tensor<2x6x7xf32>
  %o = "tessera.matmul"(%g, %v) : (tensor<2x6x7xf32>, tensor<2x7x5xf32>) -> tensor<2x6x5xf32>
  return %o : tensor<2x6x5xf32>
}

// CHECK-LABEL: func.func @rows_that_drop_every_key(
// CHECK-NEXT: {{.*}}tessera_apple_gpu_not_i1(%m)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v, %{{.*}}) {{{.*}}mask_guard = false, nan_guard = false
// CHECK-NEXT: func.return
func.func @rows_that_drop_every_key(%q: tensor<2x6x8xf32>, %k: tensor<2x8x7xf32>, %v: tensor<2x7x5xf32>, %m: tensor<6x7xi1>) -> tensor<2x6x5xf32> {
  %inf = "tessera.const"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %zero = "tessera.const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %s = "tessera.matmul"(%q, %k) : (tensor<2x6x8xf32>, tensor<2x8x7xf32>) -> tensor<2x6x7xf32>
  %a = "tessera.select"(%m, %inf, %s) : (tensor<6x7xi1>, tensor<f32>, tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %p = "tessera.softmax"(%a) : (tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %n = "tessera.not"(%m) : (tensor<6x7xi1>) -> tensor<6x7xi1>
  %r = "tessera.reduce_any"(%n) {axes = [-1], keepdims = true} : (tensor<6x7xi1>) -> tensor<6x1xi1>
  %c = "tessera.not"(%r) : (tensor<6x1xi1>) -> tensor<6x1xi1>
  %g = "tessera.select"(%c, %zero, %p) : (tensor<6x1xi1>, tensor<f32>, tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %o = "tessera.matmul"(%g, %v) : (tensor<2x6x7xf32>, tensor<2x7x5xf32>) -> tensor<2x6x5xf32>
  return %o : tensor<2x6x5xf32>
}

// CHECK-LABEL: func.func @rows_that_a_finite_fill_would_not_remove(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v, %m) {{{.*}}mask_fill = -1.000000e+04 : f64, mask_guard = true
// CHECK-NEXT: func.return
func.func @rows_that_a_finite_fill_would_not_remove(%q: tensor<2x6x8xf32>, %k: tensor<2x8x7xf32>, %v: tensor<2x7x5xf32>, %m: tensor<6x7xi1>) -> tensor<2x6x5xf32> {
  %low = "tessera.const"() {value = dense<-1.0e4> : tensor<f32>} : () -> tensor<f32>
  %zero = "tessera.const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %s = "tessera.matmul"(%q, %k) : (tensor<2x6x8xf32>, tensor<2x8x7xf32>) -> tensor<2x6x7xf32>
  %a = "tessera.select"(%m, %s, %low) : (tensor<6x7xi1>, tensor<2x6x7xf32>, tensor<f32>) -> tensor<2x6x7xf32>
  %p = "tessera.softmax"(%a) : (tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %c = "tessera.reduce_any"(%m) {axes = [-1], keepdims = true} : (tensor<6x7xi1>) -> tensor<6x1xi1>
  %g = "tessera.select"(%c, %p, %zero) : (tensor<6x1xi1>, tensor<2x6x7xf32>, tensor<f32>) -> tensor<2x6x7xf32>
  %o = "tessera.matmul"(%g, %v) : (tensor<2x6x7xf32>, tensor<2x7x5xf32>) -> tensor<2x6x5xf32>
  return %o : tensor<2x6x5xf32>
}

// What is another choice.

// CHECK-LABEL: func.func @f110_rows_of_another_mask(
// CHECK-NOT: matmul_softmax_matmul_f32
// CHECK: func.return
func.func @f110_rows_of_another_mask(%q: tensor<2x6x8xf32>, %k: tensor<2x8x7xf32>, %v: tensor<2x7x5xf32>, %m: tensor<6x7xf32>, %w: tensor<6x7xf32>) -> tensor<2x6x5xf32> {
  %inf = "tessera.const"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %zero = "tessera.const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %s = "tessera.matmul"(%q, %k) : (tensor<2x6x8xf32>, tensor<2x8x7xf32>) -> tensor<2x6x7xf32>
  %a = "tessera.add"(%s, %m) : (tensor<2x6x7xf32>, tensor<6x7xf32>) -> tensor<2x6x7xf32>
  %p = "tessera.softmax"(%a) : (tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %y = "tessera.reduce_max"(%w) {axes = [-1], keepdims = true} : (tensor<6x7xf32>) -> tensor<6x1xf32>
  %c = "tessera.cmp"(%y, %inf) {kind = "eq"} : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x1xi1>
  %g = "tessera.select"(%c, %zero, %p) : (tensor<6x1xi1>, tensor<f32>, tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  // expected-remark @+1 {{[TSR-F110] not fused as matmul_softmax_matmul: guard: found zeros for rows of a function argument, wanted a test of the scores or of their mask}}
  %o = "tessera.matmul"(%g, %v) : (tensor<2x6x7xf32>, tensor<2x7x5xf32>) -> tensor<2x6x5xf32>
  return %o : tensor<2x6x5xf32>
}

// CHECK-LABEL: func.func @f110_a_second_guard(
// CHECK-NOT: matmul_softmax_matmul_f32
// CHECK: func.return
func.func @f110_a_second_guard(%q: tensor<2x6x8xf32>, %k: tensor<2x8x7xf32>, %v: tensor<2x7x5xf32>, %m: tensor<6x7xf32>) -> tensor<2x6x5xf32> {
  %inf = "tessera.const"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %zero = "tessera.const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %s = "tessera.matmul"(%q, %k) : (tensor<2x6x8xf32>, tensor<2x8x7xf32>) -> tensor<2x6x7xf32>
  %p = "tessera.softmax"(%s) : (tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %i = "tessera.isnan"(%p) : (tensor<2x6x7xf32>) -> tensor<2x6x7xi1>
  %h = "tessera.select"(%i, %zero, %p) : (tensor<2x6x7xi1>, tensor<f32>, tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %j = "tessera.isnan"(%h) : (tensor<2x6x7xf32>) -> tensor<2x6x7xi1>
  %g = "tessera.select"(%j, %zero, %h) : (tensor<2x6x7xi1>, tensor<f32>, tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  // expected-remark @+1 {{[TSR-F110] not fused as matmul_softmax_matmul: guard: found a second guard, wanted one}}
  %o = "tessera.matmul"(%g, %v) : (tensor<2x6x7xf32>, tensor<2x7x5xf32>) -> tensor<2x6x5xf32>
  return %o : tensor<2x6x5xf32>
}

// CHECK-LABEL: func.func @columns_are_no_rows(
// CHECK-NOT: matmul_softmax_matmul_f32
// CHECK: func.return
func.func @columns_are_no_rows(%q: tensor<2x6x8xf32>, %k: tensor<2x8x7xf32>, %v: tensor<2x7x5xf32>, %m: tensor<6x7xf32>) -> tensor<2x6x5xf32> {
  %inf = "tessera.const"() {value = dense<0xFF800000> : tensor<f32>} : () -> tensor<f32>
  %zero = "tessera.const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %s = "tessera.matmul"(%q, %k) : (tensor<2x6x8xf32>, tensor<2x8x7xf32>) -> tensor<2x6x7xf32>
  %a = "tessera.add"(%s, %m) : (tensor<2x6x7xf32>, tensor<6x7xf32>) -> tensor<2x6x7xf32>
  %p = "tessera.softmax"(%a) : (tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %y = "tessera.reduce_max"(%m) {axes = [0], keepdims = true} : (tensor<6x7xf32>) -> tensor<1x7xf32>
  %c = "tessera.cmp"(%y, %inf) {kind = "eq"} : (tensor<1x7xf32>, tensor<f32>) -> tensor<1x7xi1>
  %g = "tessera.select"(%c, %zero, %p) : (tensor<1x7xi1>, tensor<f32>, tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %o = "tessera.matmul"(%g, %v) : (tensor<2x6x7xf32>, tensor<2x7x5xf32>) -> tensor<2x6x5xf32>
  return %o : tensor<2x6x5xf32>
}

// CHECK-LABEL: func.func @the_largest_score_is_another_bound(
// CHECK-NOT: matmul_softmax_matmul_f32
// CHECK: func.return
func.func @the_largest_score_is_another_bound(%q: tensor<2x6x8xf32>, %k: tensor<2x8x7xf32>, %v: tensor<2x7x5xf32>, %m: tensor<6x7xf32>) -> tensor<2x6x5xf32> {
  %zero = "tessera.const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %s = "tessera.matmul"(%q, %k) : (tensor<2x6x8xf32>, tensor<2x8x7xf32>) -> tensor<2x6x7xf32>
  %a = "tessera.add"(%s, %m) : (tensor<2x6x7xf32>, tensor<6x7xf32>) -> tensor<2x6x7xf32>
  %p = "tessera.softmax"(%a) : (tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %y = "tessera.reduce_max"(%m) {axes = [-1], keepdims = true} : (tensor<6x7xf32>) -> tensor<6x1xf32>
  %c = "tessera.cmp"(%y, %zero) {kind = "eq"} : (tensor<6x1xf32>, tensor<f32>) -> tensor<6x1xi1>
  %g = "tessera.select"(%c, %zero, %p) : (tensor<6x1xi1>, tensor<f32>, tensor<2x6x7xf32>) -> tensor<2x6x7xf32>
  %o = "tessera.matmul"(%g, %v) : (tensor<2x6x7xf32>, tensor<2x7x5xf32>) -> tensor<2x6x5xf32>
  return %o : tensor<2x6x5xf32>
}
