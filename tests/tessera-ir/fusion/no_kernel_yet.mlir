// RUN: tessera audit %s --target apple_cpu --format json | filecheck %s

// What is recognised and has no kernel is a site of its own, refused with a reason.

// CHECK: "kind": "layernorm"
// CHECK: "outcome": "refused"
// CHECK: "code": "TSR-F201"
func.func @f201_layernorm(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %o = "tessera.layernorm"(%x) : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return %o : tensor<3x8xf32>
}
