// RUN: tessera-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect
// Text that is not MLIR is refused where it stops making sense.

func.func @g020_attribute_without_value(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{[TSR-G020] attribute expected}}
  %y = "test.op"(%x) {axis = , eps = 1.0e-5 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @g020_nothing_defines_it(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{[TSR-G020] %z is used but never defined}}
  %y = arith.addf %x, %z : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @g020_operand_of_another_type(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{[TSR-G020] operand is used with type tensor<5xf32>, but has been previously used or defined with type tensor<4xf32>}}
  %y = arith.addf %x, %x : tensor<5xf32>
  func.return %y : tensor<5xf32>
}

// -----

func.func @g020_literal_shape() {
  // expected-error @+1 {{[TSR-G020] shape mismatch: literal has shape [3], its type [2]}}
  %y = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<2xf32>
  func.return
}

// -----

func.func @g020_bits_that_do_not_fit() {
  // expected-error @+1 {{[TSR-G020] 0x1FF80 does not fit bf16}}
  %y = arith.constant dense<0x1FF80> : tensor<2xbf16>
  func.return
}

// -----

func.func @g020_location_alias_missing() {
  // expected-error @+1 {{[TSR-G020] alias #loc7 is not defined}}
  func.return loc(#loc7)
}

// -----

// expected-error @+1 {{[TSR-G021] nested too deeply}}
"test.op"() {deep = [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]} : () -> ()

// -----

func.func @g020_cut_off(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "test.region"(%x) ({
  ^bb0(%i: f32):
    // expected-error @+2 {{[TSR-G020] the text ends here in block definition}}
    "test.yield"(%i) : (f32) -> ()
