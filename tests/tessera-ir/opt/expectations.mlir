// RUN: tessera-opt %s --split-input-file --verify-diagnostics --canonicalize
// The ways to say where a message is expected.

func.func @two_above(%a: i32) -> i32 {
  %c = arith.constant 0 : i32
  %r = arith.addi %a, %c {test.one} : i32
  // expected-warning @above {{'arith.addi' op removed}}
  func.return %r : i32
}

// -----

func.func @stacked_below(%a: i32, %b: i32) -> (i32, i32) {
  %c = arith.constant 0 : i32
  // expected-warning-re @below {{'arith.addi' op removed by {{\w+}}, which drops test.one}}
  // expected-warning @below {{'arith.muli' op removed}}
  %r = arith.addi %a, %c {test.one} : i32 %p = arith.muli %b, %c {test.two} : i32
  func.return %r, %p : i32, i32
}

// -----

func.func @counted(%a: i32) -> i32 {
  %c = arith.constant 0 : i32 // expected-warning @+1 2{{removed by canonicalize}}
  %r = arith.addi %a, %c {test.one} : i32 %s = arith.addi %r, %c {test.two} : i32
  func.return %s : i32
}

// -----

func.func @outside_of_the_file(%a: i32) -> i32 {
  // expected-warning @unknown {{removed by canonicalize}}
  %c = arith.constant 0 : i32
  %r = arith.addi %a, %c {test.one} : i32 loc("model.py":3:1)
  func.return %r : i32
}

// -----

func.func @remarks_are_looked_at_only_with_the_flag(%a: i32) -> i32 {
  // expected-remark @+1 {{never said}}
  func.return %a : i32
}
