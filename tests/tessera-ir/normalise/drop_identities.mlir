// RUN: tessera-opt %s --tessera-drop-identities | filecheck %s

// CHECK-LABEL: @neutral_numbers_go
// CHECK-NEXT: func.return %{{.*}} : tensor<2x3xf32>
func.func @neutral_numbers_go(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %one = "tessera.const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %zero = "tessera.const"() {value = dense<0.0> : tensor<1x3xf32>} : () -> tensor<1x3xf32>
  %a = "tessera.mul"(%one, %x) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = "tessera.div"(%a, %one) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %c = "tessera.sub"(%b, %zero) : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  func.return %c : tensor<2x3xf32>
}

// CHECK-LABEL: @adding_zero_turns_minus_zero_and_stays
// CHECK: tessera.add
func.func @adding_zero_turns_minus_zero_and_stays(%x: tensor<3xf32>) -> tensor<3xf32> {
  %zero = "tessera.const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %y = "tessera.add"(%x, %zero) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// CHECK-LABEL: @adding_integer_zero_goes
// CHECK-NOT: tessera.add
// CHECK: func.return
func.func @adding_integer_zero_goes(%x: tensor<3xi64>) -> tensor<3xi64> {
  %zero = "tessera.const"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %y = "tessera.add"(%x, %zero) : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
  func.return %y : tensor<3xi64>
}

// CHECK-LABEL: @a_number_that_raises_the_rank_stays
// CHECK: tessera.mul
func.func @a_number_that_raises_the_rank_stays(%x: tensor<f32>) -> tensor<1xf32> {
  %one = "tessera.const"() {value = dense<1.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %y = "tessera.mul"(%x, %one) : (tensor<f32>, tensor<1xf32>) -> tensor<1xf32>
  func.return %y : tensor<1xf32>
}

// CHECK-LABEL: @views_that_undo_each_other_go
// CHECK-NEXT: func.return %{{.*}} : tensor<2x3x4xf32>
func.func @views_that_undo_each_other_go(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %a = "tessera.reshape"(%x) : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %b = "tessera.reshape"(%a) : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %c = "tessera.transpose"(%b) {permutation = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  %d = "tessera.transpose"(%c) {permutation = array<i64: 1, 2, 0>} : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  %e = "tessera.slice"(%d) {starts = array<i64: 0, 0, 0>, stops = array<i64: 2, 9223372036854775807, 4>, steps = array<i64: 1, 1, 1>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %f = "tessera.concat"(%e) {axis = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %g = "tessera.neg"(%f) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %h = "tessera.neg"(%g) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  func.return %h : tensor<2x3x4xf32>
}

// CHECK-LABEL: @a_cast_that_rounds_stays
// CHECK-COUNT-2: tessera.cast
func.func @a_cast_that_rounds_stays(%x: tensor<3xf32>) -> tensor<3xf32> {
  %h = "tessera.cast"(%x) : (tensor<3xf32>) -> tensor<3xf16>
  %y = "tessera.cast"(%h) : (tensor<3xf16>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// CHECK-LABEL: @a_cast_that_widens_and_returns_goes
// CHECK-NOT: tessera.cast
// CHECK: func.return
func.func @a_cast_that_widens_and_returns_goes(%x: tensor<3xbf16>) -> tensor<3xbf16> {
  %w = "tessera.cast"(%x) : (tensor<3xbf16>) -> tensor<3xf32>
  %y = "tessera.cast"(%w) : (tensor<3xf32>) -> tensor<3xbf16>
  func.return %y : tensor<3xbf16>
}

// CHECK-LABEL: @a_note_moves_to_the_value_that_remains
// CHECK: "tessera.gelu"(%{{.*}}) {tessera.fusion.intent = "matmul_gelu"}
func.func @a_note_moves_to_the_value_that_remains(%x: tensor<3xf32>) -> tensor<3xf32> {
  %g = "tessera.gelu"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %y = "tessera.cast"(%g) {tessera.fusion.intent = "matmul_gelu"} : (tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// CHECK-LABEL: @a_function_of_halves_is_computed_in_f32_anyway
// CHECK-NEXT: "tessera.softmax"(%x) {axis = 0 : i64} : (tensor<3x4xf16>) -> tensor<3x4xf16>
// CHECK-NEXT: func.return
func.func @a_function_of_halves_is_computed_in_f32_anyway(%x: tensor<3x4xf16>) -> tensor<3x4xf16> {
  %w = "tessera.cast"(%x) : (tensor<3x4xf16>) -> tensor<3x4xf32>
  %p = "tessera.softmax"(%w) {axis = 0 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.cast"(%p) : (tensor<3x4xf32>) -> tensor<3x4xf16>
  func.return %y : tensor<3x4xf16>
}

// CHECK-LABEL: @a_function_in_f64_is_another
// CHECK: "tessera.softmax"({{.*}}tensor<3x4xf64>
func.func @a_function_in_f64_is_another(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %w = "tessera.cast"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf64>
  %p = "tessera.softmax"(%w) : (tensor<3x4xf64>) -> tensor<3x4xf64>
  %y = "tessera.cast"(%p) : (tensor<3x4xf64>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @a_function_that_is_read_in_f32_stays
// CHECK-COUNT-2: tessera.cast
func.func @a_function_that_is_read_in_f32_stays(%x: tensor<3xbf16>) -> (tensor<3xf32>, tensor<3xbf16>) {
  %w = "tessera.cast"(%x) : (tensor<3xbf16>) -> tensor<3xf32>
  %p = "tessera.gelu"(%w) : (tensor<3xf32>) -> tensor<3xf32>
  %y = "tessera.cast"(%p) : (tensor<3xf32>) -> tensor<3xbf16>
  func.return %p, %y : tensor<3xf32>, tensor<3xbf16>
}

// CHECK-LABEL: @a_choice_by_what_does_not_hold
// CHECK: "tessera.select"(%dropped, %low, %scores)
func.func @a_choice_by_what_does_not_hold(%dropped: tensor<4xi1>, %scores: tensor<4xf32>, %low: tensor<f32>) -> tensor<4xf32> {
  %kept = "tessera.not"(%dropped) : (tensor<4xi1>) -> tensor<4xi1>
  %y = "tessera.select"(%kept, %scores, %low) : (tensor<4xi1>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
