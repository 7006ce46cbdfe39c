// RUN: tessera-opt %s --tessera-lower-to-apple_gpu-runtime --remarks --verify-diagnostics | filecheck %s

// gelu(A B [+ bias]): every option, every refusal.

// What the kernel honours.

// CHECK-LABEL: func.func @plain(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_gelu_f32(%x, %w) {{{.*}}roles = ["x", "w"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @plain(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.gelu"(%h) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @intent_is_honoured(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_gelu_f32(%x, %w, %b) {{{.*}}roles = ["x", "w", "bias"]{{.*}}tessera.fusion.source = "descriptor"
// CHECK-NEXT: func.return
func.func @intent_is_honoured(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %h1 = "tessera.add"(%b, %h) : (tensor<6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.gelu"(%h1) {tessera.fusion.intent = "matmul_gelu"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @tanh_form(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_gelu_f32(%x, %w) {approximate = "tanh"{{.*}}roles = ["x", "w"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @tanh_form(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.gelu"(%h) {approximate = "tanh"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @quick_form(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_gelu_f32(%x, %w) {approximate = "quick"{{.*}}roles = ["x", "w"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @quick_form(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.gelu"(%h) {approximate = "quick"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @weight_by_rows(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_gelu_f32(%x, %w) {{{.*}}roles = ["x", "w"]{{.*}}tessera.fusion.source = "rediscovered", transpose_b = true
// CHECK-NEXT: func.return
func.func @weight_by_rows(%x: tensor<3x8xf32>, %w: tensor<6x8xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) {transpose_b = true} : (tensor<3x8xf32>, tensor<6x8xf32>) -> tensor<3x6xf32>
  %o = "tessera.gelu"(%h) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @narrow(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_gelu_f16(%x, %w, %b) {{{.*}}roles = ["x", "w", "bias"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @narrow(%x: tensor<3x8xf16>, %w: tensor<8x6xf16>, %b: tensor<6xf16>) -> tensor<3x6xf16> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf16>, tensor<8x6xf16>) -> tensor<3x6xf16>
  %h1 = "tessera.add"(%b, %h) : (tensor<6xf16>, tensor<3x6xf16>) -> tensor<3x6xf16>
  %o = "tessera.gelu"(%h1) : (tensor<3x6xf16>) -> tensor<3x6xf16>
  return %o : tensor<3x6xf16>
}

// CHECK-LABEL: func.func @reshape_between(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_reshape_f32(%x)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_gelu_f32(%0, %w, %b) {{{.*}}roles = ["x", "w", "bias"]{{.*}}tessera.fusion.source = "rediscovered"
// CHECK-NEXT: func.return
func.func @reshape_between(%x: tensor<2x3x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>) -> tensor<3x1x2x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<2x3x8xf32>, tensor<8x6xf32>) -> tensor<2x3x6xf32>
  %h1 = "tessera.add"(%b, %h) : (tensor<6xf32>, tensor<2x3x6xf32>) -> tensor<2x3x6xf32>
  %reshape = "tessera.reshape"(%h1) : (tensor<2x3x6xf32>) -> tensor<3x1x2x6xf32>
  %o = "tessera.gelu"(%reshape) : (tensor<3x1x2x6xf32>) -> tensor<3x1x2x6xf32>
  return %o : tensor<3x1x2x6xf32>
}

// What it refuses.

// CHECK-LABEL: func.func @f101_another_op_between(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_exp_f32(%h)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_gelu_f32(%exp)
// CHECK-NEXT: func.return
func.func @f101_another_op_between(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %exp = "tessera.exp"(%h) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  // expected-warning @+1 {{[TSR-F101] intent 'matmul_gelu' is not what the program says: producer: found tessera.exp, wanted tessera.matmul; runs instead: the unfused ops}}
  %o = "tessera.gelu"(%exp) {tessera.fusion.intent = "matmul_gelu"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @f102_product_read_twice(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_gelu_f32(%h)
// CHECK-NEXT: func.return
func.func @f102_product_read_twice(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> (tensor<3x6xf32>, tensor<3x6xf32>) {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  // expected-warning @+1 {{[TSR-F102] intent 'matmul_gelu' is not what the program says: readers: found 1 more reader(s) of tessera.matmul, wanted none outside the chain; runs instead: the unfused ops}}
  %o = "tessera.gelu"(%h) {tessera.fusion.intent = "matmul_gelu"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o, %h : tensor<3x6xf32>, tensor<3x6xf32>
}

// CHECK-LABEL: func.func @f105_product_transposed(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_transpose_f32(%h)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_gelu_f32(%transpose)
// CHECK-NEXT: func.return
func.func @f105_product_transposed(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> tensor<6x3xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %transpose = "tessera.transpose"(%h) {permutation = array<i64: 1, 0>} : (tensor<3x6xf32>) -> tensor<6x3xf32>
  // expected-warning @+1 {{[TSR-F105] intent 'matmul_gelu' is not what the program says: transpose: found a transpose [1, 0] inside the chain, wanted none; runs instead: the unfused ops}}
  %o = "tessera.gelu"(%transpose) {tessera.fusion.intent = "matmul_gelu"} : (tensor<6x3xf32>) -> tensor<6x3xf32>
  return %o : tensor<6x3xf32>
}

// CHECK-LABEL: func.func @f105_x_transposed(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_transpose_f32(%x)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_gelu_f32(%0, %w) {{{.*}}roles = ["x", "w"]{{.*}}tessera.fusion.source = "descriptor"
// CHECK-NEXT: func.return
func.func @f105_x_transposed(%x: tensor<8x3xf32>, %w: tensor<8x6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) {transpose_a = true} : (tensor<8x3xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %o = "tessera.gelu"(%h) {tessera.fusion.intent = "matmul_gelu"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @f106_bias_of_another_type(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f16(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_cast_f32(%h)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_add_f32(%cast, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_cast_f16(%add)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_gelu_f16(%cast1)
// CHECK-NEXT: func.return
func.func @f106_bias_of_another_type(%x: tensor<3x8xf16>, %w: tensor<8x6xf16>, %b: tensor<6xf32>) -> tensor<3x6xf16> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf16>, tensor<8x6xf16>) -> tensor<3x6xf16>
  %cast = "tessera.cast"(%h) : (tensor<3x6xf16>) -> tensor<3x6xf32>
  %add = "tessera.add"(%cast, %b) : (tensor<3x6xf32>, tensor<6xf32>) -> tensor<3x6xf32>
  %cast1 = "tessera.cast"(%add) : (tensor<3x6xf32>) -> tensor<3x6xf16>
  // expected-warning @+1 {{[TSR-F106] intent 'matmul_gelu' is not what the program says: element type: found a cast from f32 to f16, wanted one element type; runs instead: the unfused ops}}
  %o = "tessera.gelu"(%cast1) {tessera.fusion.intent = "matmul_gelu"} : (tensor<3x6xf16>) -> tensor<3x6xf16>
  return %o : tensor<3x6xf16>
}

// CHECK-LABEL: func.func @f107_x_is_a_vector(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_gelu_f32(%h)
// CHECK-NEXT: func.return
func.func @f107_x_is_a_vector(%x: tensor<8xf32>, %w: tensor<8x6xf32>) -> tensor<6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<8xf32>, tensor<8x6xf32>) -> tensor<6xf32>
  // expected-warning @+1 {{[TSR-F107] intent 'matmul_gelu' is not what the program says: rank: found operand a of 8, wanted at least 2 axes; runs instead: the unfused ops}}
  %o = "tessera.gelu"(%h) {tessera.fusion.intent = "matmul_gelu"} : (tensor<6xf32>) -> tensor<6xf32>
  return %o : tensor<6xf32>
}

// CHECK-LABEL: func.func @f108_reshape_of_columns(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_reshape_f32(%h)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_gelu_f32(%reshape)
// CHECK-NEXT: func.return
func.func @f108_reshape_of_columns(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> tensor<3x2x3xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %reshape = "tessera.reshape"(%h) : (tensor<3x6xf32>) -> tensor<3x2x3xf32>
  // expected-warning @+1 {{[TSR-F108] intent 'matmul_gelu' is not what the program says: reshape in the chain: found 3x6 -> 3x2x3, wanted the last axis unchanged; runs instead: the unfused ops}}
  %o = "tessera.gelu"(%reshape) {tessera.fusion.intent = "matmul_gelu"} : (tensor<3x2x3xf32>) -> tensor<3x2x3xf32>
  return %o : tensor<3x2x3xf32>
}

// CHECK-LABEL: func.func @f112_tanh_never_ends_it(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_tanh_f32(%h)
// CHECK-NEXT: func.return
func.func @f112_tanh_never_ends_it(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  // expected-warning @+1 {{[TSR-F112] intent 'matmul_gelu' is not what the program says: terminal op: found tessera.tanh, wanted tessera.gelu; runs instead: the unfused ops}}
  %o = "tessera.tanh"(%h) {tessera.fusion.intent = "matmul_gelu"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @f116_bias_of_rows(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_add_f32(%h, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_gelu_f32(%add)
// CHECK-NEXT: func.return
func.func @f116_bias_of_rows(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>, %b: tensor<3x1xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %add = "tessera.add"(%h, %b) : (tensor<3x6xf32>, tensor<3x1xf32>) -> tensor<3x6xf32>
  // expected-warning @+1 {{[TSR-F116] intent 'matmul_gelu' is not what the program says: added operand: found an addend of 3x1 made by a function argument, wanted one bias of 6; runs instead: the unfused ops}}
  %o = "tessera.gelu"(%add) {tessera.fusion.intent = "matmul_gelu"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @f116_second_bias(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_add_f32(%b, %h)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_add_f32(%h1, %c)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_gelu_f32(%add)
// CHECK-NEXT: func.return
func.func @f116_second_bias(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>, %b: tensor<6xf32>, %c: tensor<6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %h1 = "tessera.add"(%b, %h) : (tensor<6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  %add = "tessera.add"(%h1, %c) : (tensor<3x6xf32>, tensor<6xf32>) -> tensor<3x6xf32>
  // expected-warning @+1 {{[TSR-F116] intent 'matmul_gelu' is not what the program says: added operand: found an addend of 6 made by a function argument, wanted one bias of 6; runs instead: the unfused ops}}
  %o = "tessera.gelu"(%add) {tessera.fusion.intent = "matmul_gelu"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @f202_another_site_owns_the_product(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_softmax_matmul_f32(%q, %k, %v) {{{.*}}roles = ["q", "k", "v"], scale = 3.5355339059327373e-01 : f64{{.*}}tessera.fusion.source = "composite_op", transpose_b = true
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_add_f32(%h, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_gelu_f32(%add)
// CHECK-NEXT: func.return
func.func @f202_another_site_owns_the_product(%q: tensor<3x8xf32>, %k: tensor<7x8xf32>, %v: tensor<7x6xf32>, %b: tensor<6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.flash_attn"(%q, %k, %v) : (tensor<3x8xf32>, tensor<7x8xf32>, tensor<7x6xf32>) -> tensor<3x6xf32>
  %add = "tessera.add"(%h, %b) : (tensor<3x6xf32>, tensor<6xf32>) -> tensor<3x6xf32>
  // expected-warning @+1 {{[TSR-F202] intent 'matmul_gelu' is not what the program says: producer: found a call of matmul_softmax_matmul, another fused site, wanted tessera.matmul; runs instead: the unfused ops}}
  %o = "tessera.gelu"(%add) {tessera.fusion.intent = "matmul_gelu"} : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// A remark where no intent asked.

// CHECK-LABEL: func.func @near_miss_is_a_remark(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_add_f32(%h, %b)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_gelu_f32(%add)
// CHECK-NEXT: func.return
func.func @near_miss_is_a_remark(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>, %b: tensor<3x6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %add = "tessera.add"(%h, %b) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
  // expected-remark @+1 {{[TSR-F116] not fused as matmul_gelu: added operand: found an addend of 3x6 made by a function argument, wanted one bias of 6}}
  %o = "tessera.gelu"(%add) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// No mark: nothing near.

// CHECK-LABEL: func.func @gelu_of_an_argument_is_none(
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_gelu_f32(%x)
// CHECK-NEXT: func.return
func.func @gelu_of_an_argument_is_none(%x: tensor<3x6xf32>) -> tensor<3x6xf32> {
  %o = "tessera.gelu"(%x) : (tensor<3x6xf32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// CHECK-LABEL: func.func @relu_is_none(
// CHECK: {{.*}}@tessera_apple_gpu_matmul_f32(%x, %w)
// CHECK-NEXT: {{.*}}@tessera_apple_gpu_max_f32(%h, %zero)
// CHECK-NEXT: func.return
func.func @relu_is_none(%x: tensor<3x8xf32>, %w: tensor<8x6xf32>) -> tensor<3x6xf32> {
  %h = "tessera.matmul"(%x, %w) : (tensor<3x8xf32>, tensor<8x6xf32>) -> tensor<3x6xf32>
  %zero = "tessera.const"() {value = dense<0.000000e+00> : tensor<f32>} : () -> tensor<f32>
  %o = "tessera.max"(%h, %zero) : (tensor<3x6xf32>, tensor<f32>) -> tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}
