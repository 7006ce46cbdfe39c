// RUN: tessera-opt %s --tessera-fold-constants | filecheck %s

// CHECK-LABEL: @known_values_fold
// CHECK-NEXT: %[[K:.*]] = "tessera.const"() {value = dense<[2.500000e+00, 3.500000e+00]> : tensor<2xf16>}
// CHECK-NEXT: func.return %[[K]]
func.func @known_values_fold() -> tensor<2xf16> {
  %a = "tessera.const"() {value = dense<[1.0, 2.0]> : tensor<2xf16>} : () -> tensor<2xf16>
  %b = "tessera.const"() {value = dense<1.5> : tensor<f16>} : () -> tensor<f16>
  %c = "tessera.add"(%a, %b) : (tensor<2xf16>, tensor<f16>) -> tensor<2xf16>
  func.return %c : tensor<2xf16>
}

// CHECK-LABEL: @a_known_shape_folds
// CHECK: "tessera.const"() {value = dense<[2, 3]> : tensor<2xi64>}
// CHECK-NOT: tessera.shape
func.func @a_known_shape_folds(%x: tensor<2x3xf32>) -> tensor<2xi64> {
  %s = "tessera.shape"(%x) : (tensor<2x3xf32>) -> tensor<2xi64>
  func.return %s : tensor<2xi64>
}

// CHECK-LABEL: @an_unknown_shape_stays
// CHECK: tessera.shape
func.func @an_unknown_shape_stays(%x: tensor<?x3xf32>) -> tensor<2xi64> {
  %s = "tessera.shape"(%x) : (tensor<?x3xf32>) -> tensor<2xi64>
  func.return %s : tensor<2xi64>
}

// CHECK-LABEL: @a_default_is_not_a_constant
// CHECK: tessera.neg
func.func @a_default_is_not_a_constant(%w: tensor<2xf32> {tessera.name = "w", tessera.default = dense<1.0> : tensor<2xf32>}) -> tensor<2xf32> {
  %y = "tessera.neg"(%w) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// CHECK-LABEL: @a_large_fill_stays
// CHECK: tessera.fill
func.func @a_large_fill_stays() -> tensor<4096x4096xf32> {
  %y = "tessera.fill"() {value = 0.0 : f64} : () -> tensor<4096x4096xf32>
  func.return %y : tensor<4096x4096xf32>
}

// CHECK-LABEL: @an_index_out_of_range_fails_where_it_runs
// CHECK: tessera.gather
func.func @an_index_out_of_range_fails_where_it_runs() -> tensor<1xf32> {
  %x = "tessera.const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %i = "tessera.const"() {value = dense<9> : tensor<1xi64>} : () -> tensor<1xi64>
  %y = "tessera.gather"(%x, %i) : (tensor<2xf32>, tensor<1xi64>) -> tensor<1xf32>
  func.return %y : tensor<1xf32>
}

// CHECK-LABEL: @a_weight_known_by_name_only_stays
// CHECK: tessera.neg
func.func @a_weight_known_by_name_only_stays() -> tensor<64xf32> {
  %w = "tessera.const"() {value = #tessera.weight<"w">} : () -> tensor<64xf32>
  %y = "tessera.neg"(%w) : (tensor<64xf32>) -> tensor<64xf32>
  func.return %y : tensor<64xf32>
}
