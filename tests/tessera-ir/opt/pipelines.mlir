// RUN: tessera-opt %s --dce --mlir-print-ir-after-all 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: tessera-opt %s --cse --dce --mlir-print-ir-before=dce 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: tessera-opt %s --pass-pipeline='builtin.module(cse,func.func(dce))' | filecheck %s
// RUN: not tessera-opt %s --pass-pipeline='builtin.module(no-such-pass)' 2>&1 | filecheck %s --check-prefix=G026
// RUN: not tessera-opt %s.missing 2>&1 | filecheck %s --check-prefix=G027
// RUN: tessera-opt --list-passes | filecheck %s --check-prefix=LIST

// AFTER: IR Dump After Cleanup (dce)
// AFTER-NOT: tessera.exp
// BEFORE: IR Dump Before Cleanup (dce)
// BEFORE-NOT: IR Dump
// CHECK-NOT: tessera.exp
// G026: tessera-opt: error: [TSR-G026] 'no-such-pass' is no pass, wanted a name of --list-passes
// G027: tessera-opt: error: [TSR-G027] cannot open '{{.*}}pipelines.mlir.missing': No such file or directory
// LIST: canonicalize
// LIST: tessera-normalise-graph
// LIST: tessera-lower-to-apple_gpu-runtime {{.*}}= tessera-normalise-graph, 

func.func @nothing_uses_it(%x: tensor<4xf32>) -> tensor<4xf32> {
  %dead = "tessera.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %x : tensor<4xf32>
}
