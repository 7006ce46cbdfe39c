// RUN: tessera-opt %s --allow-unregistered-dialect --tessera-lower-to-apple_gpu-runtime --verify-diagnostics

// Target IR holds functions, constants, declarations and calls, nothing else.

func.func @t005_an_op_that_no_pass_lowers(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{[TSR-T005] 'other.op' is left in Target IR}}
  %o = "other.op"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %o : tensor<3xf32>
}
