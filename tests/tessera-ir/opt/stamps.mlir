// RUN: tessera-opt %s --split-input-file --canonicalize --cse --dce | filecheck %s
// RUN: tessera-opt %s --split-input-file --dce --canonicalize --cse --dce --cse --canonicalize | filecheck %s
// RUN: tessera-opt %s --split-input-file --canonicalize --verify-diagnostics --remarks | filecheck %s
// Clean-ups keep the notes of the ops they rewrite, or say which note went.

// The rewrite to `%a + 1` makes a new op.
// CHECK-LABEL: @a_swapped_op_keeps_its_note
func.func @a_swapped_op_keeps_its_note(%a: i32) -> i32 {
  %c = arith.constant 1 : i32
  // CHECK: arith.addi %a, %c {tessera.fusion.intent = "keep"} : i32
  %r = arith.addi %c, %a {tessera.fusion.intent = "keep"} : i32
  func.return %r : i32
}

// -----

// CHECK-LABEL: @equal_notes_merge
func.func @equal_notes_merge(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: "tessera.exp"(%x) {tessera.fusion.intent = "keep"}
  %a = "tessera.exp"(%x) {tessera.fusion.intent = "keep"} : (tensor<4xf32>) -> tensor<4xf32>
  %b = "tessera.exp"(%x) {tessera.fusion.intent = "keep"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: @different_notes_stay_apart
func.func @different_notes_stay_apart(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: "tessera.exp"(%x) : (tensor<4xf32>)
  %a = "tessera.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: "tessera.exp"(%x) {tessera.fusion.intent = "keep"}
  %b = "tessera.exp"(%x) {tessera.fusion.intent = "keep"} : (tensor<4xf32>) -> tensor<4xf32>
  func.return %a, %b : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: @g025_a_folded_op_drops_its_note
func.func @g025_a_folded_op_drops_its_note(%a: i32) -> i32 {
  %c = arith.constant 0 : i32
  // expected-warning @+1 {{[TSR-G025] 'arith.addi' op removed by canonicalize, which drops tessera.fusion.intent = "gone"}}
  %r = arith.addi %a, %c {tessera.fusion.intent = "gone"} : i32
  // CHECK: func.return %a
  func.return %r : i32
}

// -----

// CHECK-LABEL: @g025_a_dead_op_drops_its_note
func.func @g025_a_dead_op_drops_its_note(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NOT: tessera.exp
  // expected-remark @+1 {{[TSR-G025] 'tessera.exp' op removed by canonicalize, which drops tessera.fusion.intent = "gone"}}
  %r = "tessera.exp"(%x) {tessera.fusion.intent = "gone"} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: func.return %x
  func.return %x : tensor<4xf32>
}
