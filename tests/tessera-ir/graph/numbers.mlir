// RUN: tessera-opt %s | tessera-opt - | filecheck %s
// Numbers keep their bits through text.

// CHECK-LABEL: @hexadecimal_floats_are_bits
func.func @hexadecimal_floats_are_bits() {
  // CHECK: arith.constant 0xFF800000 : f32
  %0 = arith.constant 0xFF800000 : f32
  // CHECK: arith.constant 0x7FC00000 : f32
  %1 = arith.constant 0x7FC00000 : f32
  // CHECK: arith.constant 1.000000e+00 : f32
  %2 = arith.constant 0x3F800000 : f32
  // CHECK: arith.constant 0xFC00 : f16
  %3 = arith.constant 0xFC00 : f16
  // CHECK: arith.constant 0xFF80 : bf16
  %4 = arith.constant 0xFF80 : bf16
  // CHECK: arith.constant 0x7FF0000000000000 : f64
  %5 = arith.constant 0x7FF0000000000000 : f64
  // CHECK: dense<[0.000000e+00, 0xFF800000]> : tensor<2xf32>
  %6 = arith.constant dense<[0.0, 0xFF800000]> : tensor<2xf32>
  // CHECK: array<f32: 0xFF800000, 1.500000e+00>
  "tessera.const"() {value = dense<0.0> : tensor<f32>, test.values = array<f32: 0xFF800000, 1.5>} : () -> tensor<f32>
  func.return
}

// CHECK-LABEL: @long_literals_are_bytes
func.func @long_literals_are_bytes() {
  // CHECK: dense<"0xFEFFFFFFFFFFFFFFFFFFFFFFFF"> : tensor<104xi1>
  %0 = arith.constant dense<"0xFEFFFFFFFFFFFFFFFFFFFFFFFF"> : tensor<104xi1>
  // CHECK: dense<[true, false, true]> : tensor<3xi1>
  %1 = arith.constant dense<"0x05"> : tensor<3xi1>
  // CHECK: dense<true> : tensor<300xi1>
  %2 = arith.constant dense<"0xFF"> : tensor<300xi1>
  func.return
}

// CHECK-LABEL: @as_many_digits_as_needed
func.func @as_many_digits_as_needed() {
  // CHECK: arith.constant 1.000000e-05 : f32
  %0 = arith.constant 1.0e-5 : f32
  // CHECK: arith.constant 1.0000001e+00 : f32
  %1 = arith.constant 1.00000012 : f32
  // CHECK: arith.constant 1.6777215e+07 : f32
  %2 = arith.constant 16777215.0 : f32
  // CHECK: arith.constant 3.333333333333333e-01 : f64
  %3 = arith.constant 0.33333333333333331 : f64
  // CHECK: arith.constant 9.997560e-02 : f16
  %4 = arith.constant 0.1 : f16
  // CHECK: arith.constant -0.000000e+00 : f32
  %5 = arith.constant -0.0 : f32
  // CHECK: arith.constant 1.401300e-45 : f32
  %6 = arith.constant 1.4e-45 : f32
  func.return
}

// CHECK-LABEL: @splats_stay_short
func.func @splats_stay_short() {
  // CHECK: dense<0xFF800000> : tensor<100000x100000xf32>
  %0 = arith.constant dense<0xFF800000> : tensor<100000x100000xf32>
  // CHECK: dense<true> : tensor<2xi1>
  %1 = arith.constant dense<[true, true]> : tensor<2xi1>
  // CHECK: dense<> : tensor<0x3xf32>
  %2 = arith.constant dense<> : tensor<0x3xf32>
  func.return
}
