// RUN: tessera-opt %s --tessera-lower-to-apple_gpu-runtime --remarks --verify-diagnostics | filecheck %s

// A B [+ bias] [+ residual], then the norm: every option, every refusal.

// What the kernel honours.

// CHECK-LABEL: func.func @plain(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_rmsnorm_f32(%x, %w) {{{.*}}roles = ["x", "w"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @plain(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>) -> tensor<2x3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %o = "tessera.rmsnorm"(%h) : (tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  return %o : tensor<2x3x6xf32>
}

// CHECK-LABEL: func.func @intent_is_honoured(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_rmsnorm_f32(%x, %w, %b, %n) {{{.*}}roles = ["x", "w", "bias", "weight"]{{.*}}tessera.fusion.source = "descriptor"
// CHECK-NEXT: func.return
func.func @intent_is_honoured(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>, %n: tensor<6xf32>) -> tensor<2x3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %h1 = "tessera.add"(%h, %b) : (tensor<2x3x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  %o = "tessera.rmsnorm"(%h1, %n) {tessera.fusion.intent = "matmul_rmsnorm"} : (tensor<2x3x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  return %o : tensor<2x3x6xf32>
}

// CHECK-LABEL: func.func @residual_and_its_sum(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_rmsnorm_f32(%x, %w, %r, %n) {{{.*}}gives = ["out", "h"]{{.*}}roles = ["x", "w", "residual", "weight"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @residual_and_its_sum(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>, %r: tensor<2x3x6xf32>, %n: tensor<6xf32>) -> (tensor<2x3x6xf32>, tensor<2x3x6xf32>) {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %h1 = "tessera.add"(%r, %h) : (tensor<2x3x6xf32>, tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  %o = "tessera.rmsnorm"(%h1, %n) : (tensor<2x3x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  return %o, %h1 : tensor<2x3x6xf32>, tensor<2x3x6xf32>
}

// CHECK-LABEL: func.func @bias_and_residual(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_rmsnorm_f32(%x, %w, %b, %r, %n) {{{.*}}roles = ["x", "w", "bias", "residual", "weight"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @bias_and_residual(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>, %r: tensor<2x3x6xf32>, %n: tensor<6xf32>) -> tensor<2x3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %h1 = "tessera.add"(%h, %b) : (tensor<2x3x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  %h2 = "tessera.add"(%r, %h1) : (tensor<2x3x6xf32>, tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  %o = "tessera.rmsnorm"(%h2, %n) : (tensor<2x3x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  return %o : tensor<2x3x6xf32>
}

// CHECK-LABEL: func.func @one_plus_weight(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_rmsnorm_f32(%x, %w, %n) {eps = 1.000000e-06 : f64{{.*}}roles = ["x", "w", "weight"]{{.*}}tessera.fusion.source = "rediscovered"{{.*}}weight_offset = 1.000000e+00 : f64
// CHECK-NEXT: func.return
func.func @one_plus_weight(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>, %n: tensor<6xf32>) -> tensor<2x3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %o = "tessera.rmsnorm"(%h, %n) {weight_offset = 1.000000e+00 : f64, eps = 1.000000e-06 : f64} : (tensor<2x3x6xf32>, tensor<6xf32>) -> tensor<2x3x6xf32>
  return %o : tensor<2x3x6xf32>
}

// CHECK-LABEL: func.func @per_head(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_rmsnorm_f32(%x, %w, %n) {{{.*}}head_dim = 3 : i64{{.*}}roles = ["x", "w", "weight"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @per_head(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>, %n: tensor<3xf32>) -> tensor<2x3x2x3xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %reshape = "tessera.reshape"(%h) : (tensor<2x3x6xf32>) -> tensor<2x3x2x3xf32>
  %o = "tessera.rmsnorm"(%reshape, %n) : (tensor<2x3x2x3xf32>, tensor<3xf32>) -> tensor<2x3x2x3xf32>
  return %o : tensor<2x3x2x3xf32>
}

// CHECK-LABEL: func.func @weight_by_rows(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_rmsnorm_f32(%x, %w) {{{.*}}roles = ["x", "w"]{{.*}}tessera.fusion.source = "rediscovered", transpose_b = true
// CHECK-NEXT: func.return
func.func @weight_by_rows(%x: tensor<2x3x8xf32>, %w: tensor<6x8xf32>) -> tensor<2x3x6xf32> {
  %h = "tessera.matmul"(%x, %w) {transpose_b = true} : (tensor<2x3x8xf32>, tensor<6x8xf32>) -> tensor<2x3x6xf32>
  %o = "tessera.rmsnorm"(%h) : (tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  return %o : tensor<2x3x6xf32>
}

// CHECK-LABEL: func.func @narrow(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_rmsnorm_f16(%x, %w, %r, %n) {{{.*}}roles = ["x", "w", "residual", "weight"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @narrow(%x: tensor<2x3x8xf16>, %w: tensor<8x6xf16>, %r: tensor<2x3x6xf16>, %n: tensor<6xf16>) -> tensor<2x3x6xf16> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf16>, tensor<8x6xf16>) -> tensor<2x3x6xf16>
  %h1 = "tessera.add"(%r, %h) : (tensor<2x3x6xf16>, tensor<2x3x6xf16>) -> tensor<2x3x6xf16>
  %o = "tessera.rmsnorm"(%h1, %n) : (tensor<2x3x6xf16>, tensor<6xf16>) -> tensor<2x3x6xf16>
  return %o : tensor<2x3x6xf16>
}

// What it refuses.

// CHECK-LABEL: func.func @f101_another_op_between(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_exp_f32(%h)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_rmsnorm_f32(%exp)
// CHECK-NEXT: func.return
func.func @f101_another_op_between(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>) -> tensor<2x3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %exp = "tessera.exp"(%h) : (tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  // expected-warning @+1 {{[TSR-F101] intent 'matmul_rmsnorm' is not what the program says: producer: found tessera.exp, wanted tessera.matmul; runs instead: the unfused ops}}
  %o = "tessera.rmsnorm"(%exp) {tessera.fusion.intent = "matmul_rmsnorm"} : (tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  return %o : tensor<2x3x6xf32>
}

// CHECK-LABEL: func.func @f102_product_read_twice(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_add_f32(%h, %r)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_rmsnorm_f32(%add)
// CHECK-NEXT: func.return
func.func @f102_product_read_twice(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>, %r: tensor<3x6xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>) {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %add = "tessera.add"(%h, %r) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  // expected-warning @+1 {{[TSR-F102] intent 'matmul_rmsnorm' is not what the program says: readers: found 1 more reader(s) of tessera.matmul, wanted none outside the chain; runs instead: the unfused ops}}
  %o = "tessera.rmsnorm"(%add) {tessera.fusion.intent = "matmul_rmsnorm"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o, %h : tensor<3x6xf32>, tensor<3x6xf32>
}

// CHECK-LABEL: func.func @f105_x_transposed(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_transpose_f32(%x)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_rmsnorm_f32(%0, %w) {{{.*}}roles = ["x", "w"]{{.*}}tessera.fusion.source = "descriptor"
// CHECK-NEXT: func.return
func.func @f105_x_transposed(%x: tensor<2x8x3xf32>, %w: tensor<8x6xf32>) -> tensor<2x3x6xf32> {
  %h = "tessera.matmul"(%x, %w) {transpose_a = true} : (tensor<2x8x3xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %o = "tessera.rmsnorm"(%h) {tessera.fusion.intent = "matmul_rmsnorm"} : (tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  return %o : tensor<2x3x6xf32>
}

// CHECK-LABEL: func.func @f108_reshape_of_columns(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_reshape_f32(%h)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_rmsnorm_f32(%reshape)
// CHECK-NEXT: func.return
func.func @f108_reshape_of_columns(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>) -> tensor<3x2x2x3xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %reshape = "tessera.reshape"(%h) : (tensor<2x3x6xf32>) -> tensor<3x2x2x3xf32>
  // expected-warning @+1 {{[TSR-F108] intent 'matmul_rmsnorm' is not what the program says: reshape in the chain: found 2x3x6 -> 3x2x2x3, wanted the last axis unchanged; runs instead: the unfused ops}}
  %o = "tessera.rmsnorm"(%reshape) {tessera.fusion.intent = "matmul_rmsnorm"} : (tensor<3x2x2x3xf32>) -> tensor<3x2x2x3xf32>
  return %o : tensor<3x2x2x3xf32>
}

// CHECK-LABEL: func.func @f116_residual_that_broadcasts(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_add_f32(%h, %r)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_rmsnorm_f32(%add)
// CHECK-NEXT: func.return
func.func @f116_residual_that_broadcasts(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>, %r: tensor<3x1xf32>) -> tensor<2x3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %add = "tessera.add"(%h, %r) : (tensor<2x3x6xf32>, tensor<3x1xf32>) -> tensor<2x3x6xf32>
  // expected-warning @+1 {{[TSR-F116] intent 'matmul_rmsnorm' is not what the program says: added operand: found an addend of 3x1 made by a function argument, wanted one bias of 6 or one residual of 2x3x6; runs instead: the unfused ops}}
  %o = "tessera.rmsnorm"(%add) {tessera.fusion.intent = "matmul_rmsnorm"} : (tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  return %o : tensor<2x3x6xf32>
}

// CHECK-LABEL: func.func @f116_bias_a_head(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_reshape_f32(%h)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_add_f32(%reshape, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_rmsnorm_f32(%add)
// CHECK-NEXT: func.return
func.func @f116_bias_a_head(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>, %b: tensor<3xf32>) -> tensor<2x3x2x3xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %reshape = "tessera.reshape"(%h) : (tensor<2x3x6xf32>) -> tensor<2x3x2x3xf32>
  %add = "tessera.add"(%reshape, %b) : (tensor<2x3x2x3xf32>, tensor<3xf32>) -> tensor<2x3x2x3xf32>
  // expected-warning @+1 {{[TSR-F116] intent 'matmul_rmsnorm' is not what the program says: added operand: found a bias added to each head, wanted a bias of 6 before the split; runs instead: the unfused ops}}
  %o = "tessera.rmsnorm"(%add) {tessera.fusion.intent = "matmul_rmsnorm"} : (tensor<2x3x2x3xf32>) -> tensor<2x3x2x3xf32>
  return %o : tensor<2x3x2x3xf32>
}

// CHECK-LABEL: func.func @f116_weight_of_rows(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_rmsnorm_f32(%h, %n)
// CHECK-NEXT: func.return
func.func @f116_weight_of_rows(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>, %n: tensor<3x1xf32>) -> tensor<2x3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  // expected-warning @+1 {{[TSR-F116] intent 'matmul_rmsnorm' is not what the program says: operand shape: found weight of 3x1, wanted one value a column; runs instead: the unfused ops}}
  %o = "tessera.rmsnorm"(%h, %n) {tessera.fusion.intent = "matmul_rmsnorm"} : (tensor<2x3x6xf32>, tensor<3x1xf32>) -> tensor<2x3x6xf32>
  return %o : tensor<2x3x6xf32>
}

// CHECK-LABEL: func.func @f115_sum_read_before_the_weight_is_known(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_add_f32(%h, %r)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_exp_f32(%h1)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_neg_f32(%n)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_rmsnorm_f32(%h1, %neg)
// CHECK-NEXT: func.return
func.func @f115_sum_read_before_the_weight_is_known(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>, %r: tensor<3x6xf32>, %n: tensor<6xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>) {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %h1 = "tessera.add"(%h, %r) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %exp = "tessera.exp"(%h1) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  %neg = "tessera.neg"(%n) : (tensor<6xf32>) -> tensor<6xf32>
  // expected-warning @+1 {{[TSR-F115] intent 'matmul_rmsnorm' is not what the program says: order: found 'weight' is made later, wanted every operand before the first reader; runs instead: the unfused ops}}
  %o = "tessera.rmsnorm"(%h1, %neg) {tessera.fusion.intent = "matmul_rmsnorm"} : (tensor<3x6xf32>, tensor<6xf32>) -> tensor<3x6xf32>
  return %o, %exp : tensor<3x6xf32>, tensor<3x6xf32>
}

// CHECK-LABEL: func.func @f202_two_norms_of_one_sum(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_rmsnorm_f32(%x, %w, %n) {{{.*}}gives = ["out", "h"]{{.*}}roles = ["x", "w", "weight"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_rmsnorm_f32(%h, %m)
// CHECK-NEXT: func.return
func.func @f202_two_norms_of_one_sum(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>, %n: tensor<6xf32>, %m: tensor<6xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>) {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.rmsnorm"(%h, %n) : (tensor<3x6xf32>, tensor<6xf32>) -> tensor<3x6xf32>
  // expected-remark @+1 {{[TSR-F202] not fused as matmul_rmsnorm: owner of the chain: found ops of another fused site, wanted a chain of its own}}
  %o1 = "tessera.rmsnorm"(%h, %m) : (tensor<3x6xf32>, tensor<6xf32>) -> tensor<3x6xf32>
  return %o, %o1 : tensor<3x6xf32>, tensor<3x6xf32>
}

// CHECK-LABEL: func.func @k301_negative_eps(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_rmsnorm_f32(%h)
// CHECK-NEXT: func.return
func.func @k301_negative_eps(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>) -> tensor<2x3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  // expected-warning @+1 {{[TSR-K301] intent 'matmul_rmsnorm' is not what the program says: eps: found eps = -0.001, wanted eps >= 0; runs instead: the unfused ops}}
  %o = "tessera.rmsnorm"(%h) {eps = -1.000000e-03 : f64, tessera.fusion.intent = "matmul_rmsnorm"} : (tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  return %o : tensor<2x3x6xf32>
}

// CHECK-LABEL: func.func @f104_several_axes(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_rmsnorm_f32(%h)
// CHECK-NEXT: func.return
func.func @f104_several_axes(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>) -> tensor<2x3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  // expected-warning @+1 {{[TSR-F104] intent 'matmul_rmsnorm' is not what the program says: tessera.rmsnorm axis: found axis = 1, wanted axis = -1; runs instead: the unfused ops}}
  %o = "tessera.rmsnorm"(%h) {axis = 1 : i64, tessera.fusion.intent = "matmul_rmsnorm"} : (tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  return %o : tensor<2x3x6xf32>
}

// A remark where no intent asked.

// CHECK-LABEL: func.func @near_miss_is_a_remark(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_exp_f32(%h)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_rmsnorm_f32(%exp)
// CHECK-NEXT: func.return
func.func @near_miss_is_a_remark(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>) -> tensor<2x3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %exp = "tessera.exp"(%h) : (tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  // expected-remark @+1 {{[TSR-F101] not fused as matmul_rmsnorm: producer: found tessera.exp, wanted tessera.matmul}}
  %o = "tessera.rmsnorm"(%exp) : (tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  return %o : tensor<2x3x6xf32>
}

// No mark: nothing near.

// CHECK-LABEL: func.func @norm_of_an_argument_is_none(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_rmsnorm_f32(%x)
// CHECK-NEXT: func.return
func.func @norm_of_an_argument_is_none(%x: tensor<3x6xf32>) -> tensor<3x6xf32> {
  // expected-remark @+1 {{[TSR-F101] not fused as matmul_rmsnorm: producer: found a function argument, wanted tessera.matmul}}
  %o = "tessera.rmsnorm"(%x) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @layernorm_is_none(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_layernorm_f32(%h)
// CHECK-NEXT: func.return
func.func @layernorm_is_none(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.layernorm"(%h) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}
