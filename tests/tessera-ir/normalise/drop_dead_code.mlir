// RUN: tessera-opt %s --tessera-drop-dead-code --verify-diagnostics

func.func @a_note_is_not_dropped_in_silence(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-warning @+1 {{'tessera.gelu' op with tessera.fusion.intent = "matmul_gelu" is dropped by tessera-drop-dead-code}}
  %dead = "tessera.gelu"(%x) {tessera.fusion.intent = "matmul_gelu"} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %x : tensor<2xf32>
}
