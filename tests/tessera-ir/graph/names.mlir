// RUN: tessera-opt %s | tessera-opt - | filecheck %s
// RUN: tessera-opt %s --mlir-print-debuginfo | filecheck %s --check-prefix=LOC

// CHECK-LABEL: func.func @arguments_carry_the_models_names(
// CHECK-SAME: %input_ids: tensor<2xi64> {tessera.name = "input_ids"}
// CHECK-SAME: %past.0.key: tensor<2xf32> {tessera.name = "past.0.key"}
// CHECK-SAME: %onnx__Add_1: tensor<2xf32> {tessera.name = "onnx::Add_1"}
// CHECK-SAME: %_1: tensor<2xf32> {tessera.name = "1"}
func.func @arguments_carry_the_models_names(
    %0: tensor<2xi64> {tessera.name = "input_ids"}, %1: tensor<2xf32> {tessera.name = "past.0.key"},
    %2: tensor<2xf32> {tessera.name = "onnx::Add_1"}, %3: tensor<2xf32> {tessera.name = "1"}) {
  func.return
}

// CHECK-LABEL: @the_texts_own_names_stay(
// CHECK-SAME: %x: tensor<2xf32> {tessera.name = "hidden"}
func.func @the_texts_own_names_stay(%x: tensor<2xf32> {tessera.name = "hidden"}) {
  func.return
}

// CHECK-LABEL: @names_stay_apart(
// CHECK-SAME: %a_b: tensor<2xf32> {tessera.name = "a:b"}, %a_b_1: tensor<2xf32> {tessera.name = "a/b"}
// CHECK: %a_b_2 = "tessera.exp"(%a_b_1)
func.func @names_stay_apart(%0: tensor<2xf32> {tessera.name = "a:b"}, %1: tensor<2xf32> {tessera.name = "a/b"}) {
  %a_b = "tessera.exp"(%1) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// An alias may be defined after its use, as mlir-opt prints it.
// LOC-LABEL: @places
// LOC: "tessera.exp"
// LOC-SAME: loc("block/node"("model.py":3:7))
// LOC: func.return loc("{{.*}}names.mlir":36:3)
func.func @places(%x: tensor<2xf32>) {
  %y = "tessera.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32> loc(#named)
  func.return
}
#named = loc("block/node"(#leaf))
#leaf = loc("model.py":3:7)
