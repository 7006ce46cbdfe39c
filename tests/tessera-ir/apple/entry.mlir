// RUN: not tessera compile %s --target apple_cpu -o %t 2>&1 | filecheck %s
// RUN: not tessera compile %s --target tpu -o %t 2>&1 | filecheck %s --check-prefix=TARGET

// CHECK: TSR-T006
// TARGET: TSR-T003
func.func @t006_one_of_two(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
func.func @t006_two_of_two(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
