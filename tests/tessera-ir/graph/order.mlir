// RUN: tessera-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect
// Values are defined before they are used, and functions give what they declare.

func.func @g022_use_before_definition(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{[TSR-G022] 'tessera.exp' op uses %z where it is not defined: defined by 'tessera.neg'}}
  %y = "tessera.exp"(%z) : (tensor<4xf32>) -> tensor<4xf32>
  %z = "tessera.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @g022_op_uses_itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{[TSR-G022] 'tessera.add' op uses %y where it is not defined}}
  %y = "tessera.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @g022_out_of_another_function(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{[TSR-G022] 'func.return' op uses %there where it is not defined}}
  func.return %there : tensor<4xf32>
}
func.func @there(%x: tensor<4xf32>) -> tensor<4xf32> {
  %there = "tessera.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %there : tensor<4xf32>
}

// -----

func.func @g022_out_of_a_region(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{[TSR-G022] 'tessera.exp' op uses %inner where it is not defined}}
  %y = "tessera.exp"(%inner) : (tensor<4xf32>) -> tensor<4xf32>
  "test.region"() ({
    %inner = "tessera.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "test.yield"(%inner) : (tensor<4xf32>) -> ()
  }) : () -> ()
  func.return %y : tensor<4xf32>
}

// -----

func.func @a_region_sees_what_is_around_it(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "tessera.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  "test.region"() ({
    %inner = "tessera.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "test.yield"(%inner) : (tensor<4xf32>) -> ()
  }) : () -> ()
  func.return %y : tensor<4xf32>
}

// -----

func.func @g022_a_branch_does_not_dominate_the_join(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  "test.branch"(%c)[^left, ^right] : (i1) -> ()
^left:
  %y = "tessera.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  "test.jump"()[^join] : () -> ()
^right:
  "test.jump"()[^join] : () -> ()
^join:
  // expected-error @+1 {{[TSR-G022] 'func.return' op uses %y where it is not defined}}
  func.return %y : tensor<4xf32>
}

// -----

func.func @an_entry_dominates_all(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "tessera.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  "test.branch"(%c)[^left, ^join] : (i1) -> ()
^left:
  "test.jump"()[^join] : () -> ()
^join:
  func.return %y : tensor<4xf32>
}

// -----

func.func @g023_no_terminator(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{[TSR-G023] 'tessera.exp' op operation tessera.exp terminates block in single-block region but is not a terminator}}
  %y = "tessera.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
}

// -----

// expected-error @+1 {{[TSR-G023] 'func.func' op has an empty block, wanted one with a terminator}}
func.func @g023_empty_block(%x: f32) {
}

// -----

// expected-error @+1 {{[TSR-G023] 'func.func' op has no body, wanted one unless it is private}}
func.func @g023_empty_body() {
}

// -----

// expected-error @+1 {{[TSR-G023]}}
module {
  func.func private @twice()
  func.func private @twice()
}

// -----

func.func @g023_of_another_dialect(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{[TSR-G023] 'func.call' op '@missing' could not be found in symbol table}}
  %y = func.call @missing(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @g024_returned_type(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{[TSR-G024] 'func.return' op returns tensor<4xf32> as result 0, its function tensor<5xf32>}}
  func.return %x : tensor<4xf32>
}

// -----

func.func @g024_returned_count(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{[TSR-G024] 'func.return' op returns 2 values, its function 1}}
  func.return %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @+1 {{[TSR-G024] 'func.func' op has 1 arguments and attributes for 2}}
"func.func"() <{sym_name = "g024_notes", function_type = (f32) -> (), arg_attrs = [{}, {}]}> ({
^bb0(%x: f32):
  func.return
}) : () -> ()
