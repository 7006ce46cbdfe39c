// RUN: tessera-opt %s --split-input-file --verify-diagnostics
// One case for each code that a graph op's verifier gives.

func.func @g001_operand_missing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{[TSR-G001] 'tessera.add' op takes 2 operands, found 1}}
  %y = "tessera.add"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @g001_result_missing(%x: tensor<4xf32>) {
  // expected-error @below {{[TSR-G001] 'tessera.topk' op gives 2 results, found 1}}
  %y = "tessera.topk"(%x) {k = 1 : i64} : (tensor<4xf32>) -> tensor<1xf32>
  func.return
}

// -----

func.func @g002_not_a_tensor(%x: f32) -> f32 {
  // expected-error @+1 {{[TSR-G002] 'tessera.exp' op works on tensors, found f32}}
  %y = "tessera.exp"(%x) : (f32) -> f32
  func.return %y : f32
}

// -----

func.func @g003_attribute_missing(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // expected-error @+1 {{[TSR-G003] 'tessera.transpose' op needs attribute 'permutation'}}
  %y = "tessera.transpose"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// -----

func.func @g003_attribute_unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{[TSR-G003] 'tessera.softmax' op has no attribute 'axes'}}
  %y = "tessera.softmax"(%x) {axes = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @g003_attribute_of_another_kind(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{[TSR-G003] 'tessera.gelu' op attribute 'approximate' is "sinh", wanted one of "none", "tanh", "quick"}}
  %y = "tessera.gelu"(%x) {approximate = "sinh"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @g004_result_shape(%x: tensor<8x4xf32>, %w: tensor<4x6xf32>) -> tensor<8x5xf32> {
  // expected-error @+1 {{[TSR-G004] 'tessera.matmul' op result has shape 8x5, wanted 8x6}}
  %y = "tessera.matmul"(%x, %w) : (tensor<8x4xf32>, tensor<4x6xf32>) -> tensor<8x5xf32>
  func.return %y : tensor<8x5xf32>
}

// -----

func.func @g004_result_element_type(%x: tensor<4xf16>) -> tensor<4xf32> {
  // expected-error @+1 {{[TSR-G004] 'tessera.exp' op result has element type f32, wanted f16}}
  %y = "tessera.exp"(%x) : (tensor<4xf16>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @g005_no_broadcast(%x: tensor<4x3xf32>, %y: tensor<4xf32>) -> tensor<4x3xf32> {
  // expected-error @+1 {{[TSR-G005] 'tessera.add' op shapes 4x3 and 4 do not broadcast}}
  %z = "tessera.add"(%x, %y) : (tensor<4x3xf32>, tensor<4xf32>) -> tensor<4x3xf32>
  func.return %z : tensor<4x3xf32>
}

// -----

func.func @g006_mixed_element_types(%x: tensor<4xf32>, %y: tensor<4xi32>) -> tensor<4xf32> {
  // expected-error @+1 {{[TSR-G006] 'tessera.add' op element types differ: f32, i32}}
  %z = "tessera.add"(%x, %y) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// -----

func.func @g007_axis_out_of_range(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  // expected-error @+1 {{[TSR-G007] 'tessera.softmax' op axis 2 is out of range for rank 2}}
  %y = "tessera.softmax"(%x) {axis = 2 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// -----

func.func @g008_contraction(%x: tensor<8x8xf32>, %w: tensor<4x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{[TSR-G008] 'tessera.matmul' op contraction dims differ: 8 vs 4}}
  %y = "tessera.matmul"(%x, %w) : (tensor<8x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  func.return %y : tensor<8x8xf32>
}

// -----

func.func @g009_element_count(%x: tensor<2x3xf32>) -> tensor<7xf32> {
  // expected-error @+1 {{[TSR-G009] 'tessera.reshape' op 2x3 has 6 elements, 7 has 7}}
  %y = "tessera.reshape"(%x) : (tensor<2x3xf32>) -> tensor<7xf32>
  func.return %y : tensor<7xf32>
}

// -----

// What is not known may be right.
func.func @unknown_sizes_pass(%x: tensor<?x?xf32>, %w: tensor<4x?xf32>) -> tensor<?x?xf32> {
  %y = "tessera.matmul"(%x, %w) : (tensor<?x?xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}
