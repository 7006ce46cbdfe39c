// RUN: tessera-opt %s --tessera-raise-norms | filecheck %s

// CHECK-LABEL: @rmsnorm_with_its_weight
// CHECK-NEXT: "tessera.rmsnorm"(%{{.*}}, %{{.*}}) {axis = -1 : i64, eps = 1.000000e-06 : f64, weight_offset = 0.000000e+00 : f64} : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT: func.return
func.func @rmsnorm_with_its_weight(%x: tensor<2x4xf32>, %w: tensor<4xf32>) -> tensor<2x4xf32> {
  %eps = "tessera.const"() {value = dense<1.0e-06> : tensor<f32>} : () -> tensor<f32>
  %s = "tessera.mul"(%x, %x) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %m = "tessera.reduce_mean"(%s) {axes = [-1], keepdims = true} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %v = "tessera.add"(%m, %eps) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %r = "tessera.rsqrt"(%v) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %n = "tessera.mul"(%x, %r) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %y = "tessera.mul"(%w, %n) : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

// CHECK-LABEL: @one_plus_weight
// CHECK: weight_offset = 1.000000e+00 : f64
func.func @one_plus_weight(%x: tensor<2x4xf32>, %w: tensor<4xf32>) -> tensor<2x4xf32> {
  %eps = "tessera.const"() {value = dense<1.0e-06> : tensor<f32>} : () -> tensor<f32>
  %one = "tessera.const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %s = "tessera.mul"(%x, %x) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %m = "tessera.reduce_mean"(%s) {axes = [-1], keepdims = true} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %v = "tessera.add"(%m, %eps) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %r = "tessera.sqrt"(%v) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %n = "tessera.div"(%x, %r) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %p = "tessera.add"(%one, %w) : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %y = "tessera.mul"(%n, %p) : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

// CHECK-LABEL: @layernorm_without_weights
// CHECK: "tessera.layernorm"(%{{.*}}) {axis = -1 : i64, eps = 1.000000e-05 : f64}
func.func @layernorm_without_weights(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %eps = "tessera.const"() {value = dense<1.0e-05> : tensor<f32>} : () -> tensor<f32>
  %m = "tessera.reduce_mean"(%x) {axes = [-1], keepdims = true} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %c = "tessera.sub"(%x, %m) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %s = "tessera.mul"(%c, %c) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %q = "tessera.reduce_mean"(%s) {axes = [-1], keepdims = true} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %v = "tessera.add"(%q, %eps) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %r = "tessera.rsqrt"(%v) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %y = "tessera.mul"(%c, %r) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

// CHECK-LABEL: @softmax_by_exp
// CHECK-NEXT: "tessera.softmax"(%{{.*}}) {axis = -1 : i64}
// CHECK-NEXT: func.return
func.func @softmax_by_exp(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %m = "tessera.reduce_max"(%x) {axes = [1], keepdims = true} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %c = "tessera.sub"(%x, %m) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %e = "tessera.exp"(%c) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %s = "tessera.reduce_sum"(%e) {axes = [1], keepdims = true} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %y = "tessera.div"(%e, %s) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

// CHECK-LABEL: @eps_outside_the_root_stays
// CHECK-NOT: tessera.rmsnorm
// CHECK: func.return
func.func @eps_outside_the_root_stays(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %eps = "tessera.const"() {value = dense<1.0e-03> : tensor<f32>} : () -> tensor<f32>
  %s = "tessera.mul"(%x, %x) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %m = "tessera.reduce_mean"(%s) {axes = [-1], keepdims = true} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %r = "tessera.sqrt"(%m) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %v = "tessera.add"(%r, %eps) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %y = "tessera.div"(%x, %v) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

// CHECK-LABEL: @a_mean_that_drops_its_axis_stays
// CHECK-NOT: norm
// CHECK: func.return
func.func @a_mean_that_drops_its_axis_stays(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %eps = "tessera.const"() {value = dense<1.0e-05> : tensor<f32>} : () -> tensor<f32>
  %s = "tessera.mul"(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = "tessera.reduce_mean"(%s) {axes = [-1]} : (tensor<4x4xf32>) -> tensor<4xf32>
  %v = "tessera.add"(%m, %eps) : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %r = "tessera.rsqrt"(%v) : (tensor<4xf32>) -> tensor<4xf32>
  %y = "tessera.mul"(%x, %r) : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// CHECK-LABEL: @a_scale_of_another_axis_stays_outside
// CHECK: "tessera.rmsnorm"(%{{[a-z0-9]+}}) {
// CHECK-NEXT: tessera.mul
func.func @a_scale_of_another_axis_stays_outside(%x: tensor<2x4x4xf32>, %w: tensor<4x1xf32>) -> tensor<2x4x4xf32> {
  %eps = "tessera.const"() {value = dense<1.0e-05> : tensor<f32>} : () -> tensor<f32>
  %s = "tessera.mul"(%x, %x) : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %m = "tessera.reduce_mean"(%s) {axes = [-1], keepdims = true} : (tensor<2x4x4xf32>) -> tensor<2x4x1xf32>
  %v = "tessera.add"(%m, %eps) : (tensor<2x4x1xf32>, tensor<f32>) -> tensor<2x4x1xf32>
  %r = "tessera.rsqrt"(%v) : (tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %n = "tessera.mul"(%x, %r) : (tensor<2x4x4xf32>, tensor<2x4x1xf32>) -> tensor<2x4x4xf32>
  %y = "tessera.mul"(%n, %w) : (tensor<2x4x4xf32>, tensor<4x1xf32>) -> tensor<2x4x4xf32>
  func.return %y : tensor<2x4x4xf32>
}

// CHECK-LABEL: @rounding_before_the_weight_is_kept
// CHECK: "tessera.rmsnorm"(%{{[a-z0-9]+}}) {{.*}} : (tensor<2x4xbf16>) -> tensor<2x4xbf16>
// CHECK-NEXT: tessera.mul
func.func @rounding_before_the_weight_is_kept(%h: tensor<2x4xbf16>, %w: tensor<4xbf16>) -> tensor<2x4xbf16> {
  %eps = "tessera.const"() {value = dense<1.0e-06> : tensor<f32>} : () -> tensor<f32>
  %x = "tessera.cast"(%h) : (tensor<2x4xbf16>) -> tensor<2x4xf32>
  %s = "tessera.mul"(%x, %x) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %m = "tessera.reduce_mean"(%s) {axes = [-1], keepdims = true} : (tensor<2x4xf32>) -> tensor<2x1xf32>
  %v = "tessera.add"(%m, %eps) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xf32>
  %r = "tessera.rsqrt"(%v) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %n = "tessera.mul"(%x, %r) : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  %b = "tessera.cast"(%n) : (tensor<2x4xf32>) -> tensor<2x4xbf16>
  %y = "tessera.mul"(%w, %b) : (tensor<4xbf16>, tensor<2x4xbf16>) -> tensor<2x4xbf16>
  func.return %y : tensor<2x4xbf16>
}

// CHECK-LABEL: @rmsnorm_over_two_axes_with_a_weight_of_both
// CHECK-NEXT: "tessera.rmsnorm"(%x, %w) {axis = -2 : i64, {{.*}} : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: func.return
func.func @rmsnorm_over_two_axes_with_a_weight_of_both(%x: tensor<2x3x4xf32>, %w: tensor<3x4xf32>) -> tensor<2x3x4xf32> {
  %eps = "tessera.const"() {value = dense<1.0e-05> : tensor<f32>} : () -> tensor<f32>
  %s = "tessera.mul"(%x, %x) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %m = "tessera.reduce_mean"(%s) {axes = [1, 2], keepdims = true} : (tensor<2x3x4xf32>) -> tensor<2x1x1xf32>
  %v = "tessera.add"(%m, %eps) : (tensor<2x1x1xf32>, tensor<f32>) -> tensor<2x1x1xf32>
  %r = "tessera.rsqrt"(%v) : (tensor<2x1x1xf32>) -> tensor<2x1x1xf32>
  %n = "tessera.mul"(%x, %r) : (tensor<2x3x4xf32>, tensor<2x1x1xf32>) -> tensor<2x3x4xf32>
  %y = "tessera.mul"(%n, %w) : (tensor<2x3x4xf32>, tensor<3x4xf32>) -> tensor<2x3x4xf32>
  func.return %y : tensor<2x3x4xf32>
}

// CHECK-LABEL: @axes_that_are_not_the_last_are_no_norm
// CHECK-NOT: tessera.rmsnorm
// CHECK: func.return
func.func @axes_that_are_not_the_last_are_no_norm(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %eps = "tessera.const"() {value = dense<1.0e-05> : tensor<f32>} : () -> tensor<f32>
  %s = "tessera.mul"(%x, %x) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %m = "tessera.reduce_mean"(%s) {axes = [0, 1], keepdims = true} : (tensor<2x3x4xf32>) -> tensor<1x1x4xf32>
  %v = "tessera.add"(%m, %eps) : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<1x1x4xf32>
  %r = "tessera.rsqrt"(%v) : (tensor<1x1x4xf32>) -> tensor<1x1x4xf32>
  %n = "tessera.mul"(%x, %r) : (tensor<2x3x4xf32>, tensor<1x1x4xf32>) -> tensor<2x3x4xf32>
  func.return %n : tensor<2x3x4xf32>
}
