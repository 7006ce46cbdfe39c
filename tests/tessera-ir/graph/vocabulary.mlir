// RUN: tessera-opt %s | tessera-opt - | filecheck %s
// One line for each op of the vocabulary: read, printed, read and printed again.

// CHECK-LABEL: @const(
func.func @const() -> tensor<2x2xf32> {
  // CHECK: "tessera.const"() {value = dense<[{{\[}}1.500000e+00, 0xFF800000], [-0.000000e+00, 1.0000001e+00]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %y = "tessera.const"() {value = dense<[[1.500000e+00, 0xFF800000], [-0.000000e+00, 1.0000001e+00]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}

// CHECK-LABEL: @const_2(
func.func @const_2() -> tensor<512x512xf32> {
  // CHECK: "tessera.const"() {value = #tessera.weight<"blk0.w">} : () -> tensor<512x512xf32>
  %y = "tessera.const"() {value = #tessera.weight<"blk0.w">} : () -> tensor<512x512xf32>
  func.return %y : tensor<512x512xf32>
}

// CHECK-LABEL: @iota(
func.func @iota() -> tensor<2x3xi32> {
  // CHECK: "tessera.iota"() {axis = 1 : i64} : () -> tensor<2x3xi32>
  %y = "tessera.iota"() {axis = 1 : i64} : () -> tensor<2x3xi32>
  func.return %y : tensor<2x3xi32>
}

// CHECK-LABEL: @fill(
func.func @fill() -> tensor<2x3xf32> {
  // CHECK: "tessera.fill"() {value = 1.500000e+00 : f64} : () -> tensor<2x3xf32>
  %y = "tessera.fill"() {value = 1.500000e+00 : f64} : () -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: @cast(
func.func @cast(%x: tensor<3x4xf32>) -> tensor<3x4xbf16> {
  // CHECK: "tessera.cast"(%x) : (tensor<3x4xf32>) -> tensor<3x4xbf16>
  %y = "tessera.cast"(%x) : (tensor<3x4xf32>) -> tensor<3x4xbf16>
  func.return %y : tensor<3x4xbf16>
}

// CHECK-LABEL: @reshape(
func.func @reshape(%x: tensor<3x4xf32>) -> tensor<2x?xf32> {
  // CHECK: "tessera.reshape"(%x) : (tensor<3x4xf32>) -> tensor<2x?xf32>
  %y = "tessera.reshape"(%x) : (tensor<3x4xf32>) -> tensor<2x?xf32>
  func.return %y : tensor<2x?xf32>
}

// CHECK-LABEL: @reshape_2(
func.func @reshape_2(%x: tensor<3x4xf32>, %sizes: tensor<2xi64>) -> tensor<?x?xf32> {
  // CHECK: "tessera.reshape"(%x, %sizes) : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %y = "tessera.reshape"(%x, %sizes) : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// CHECK-LABEL: @broadcast(
func.func @broadcast(%x: tensor<4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.broadcast"(%x) : (tensor<4xf32>) -> tensor<3x4xf32>
  %y = "tessera.broadcast"(%x) : (tensor<4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @transpose(
func.func @transpose(%x: tensor<3x4xf32>) -> tensor<4x3xf32> {
  // CHECK: "tessera.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %y = "tessera.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// CHECK-LABEL: @slice(
func.func @slice(%x: tensor<3x4xf32>) -> tensor<2x4xf32> {
  // CHECK: "tessera.slice"(%x) {starts = array<i64: 0, 3>, stops = array<i64: 2, -9223372036854775808>, steps = array<i64: 1, -1>} : (tensor<3x4xf32>) -> tensor<2x4xf32>
  %y = "tessera.slice"(%x) {starts = array<i64: 0, 3>, stops = array<i64: 2, -9223372036854775808>, steps = array<i64: 1, -1>} : (tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %y : tensor<2x4xf32>
}

// CHECK-LABEL: @concat(
func.func @concat(%x0: tensor<3x4xf32>, %x1: tensor<3x4xf32>) -> tensor<3x8xf32> {
  // CHECK: "tessera.concat"(%x0, %x1) {axis = 1 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
  %y = "tessera.concat"(%x0, %x1) {axis = 1 : i64} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x8xf32>
  func.return %y : tensor<3x8xf32>
}

// CHECK-LABEL: @pad(
func.func @pad(%x: tensor<3x4xf32>) -> tensor<4x6xf32> {
  // CHECK: "tessera.pad"(%x) {low = array<i64: 1, 0>, high = array<i64: 0, 2>, value = 0xFFF0000000000000 : f64} : (tensor<3x4xf32>) -> tensor<4x6xf32>
  %y = "tessera.pad"(%x) {low = array<i64: 1, 0>, high = array<i64: 0, 2>, value = 0xFFF0000000000000 : f64} : (tensor<3x4xf32>) -> tensor<4x6xf32>
  func.return %y : tensor<4x6xf32>
}

// CHECK-LABEL: @gather(
func.func @gather(%x: tensor<10x4xf32>, %indices: tensor<2x3xi64>) -> tensor<2x3x4xf32> {
  // CHECK: "tessera.gather"(%x, %indices) {axis = 0 : i64} : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  %y = "tessera.gather"(%x, %indices) {axis = 0 : i64} : (tensor<10x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32>
  func.return %y : tensor<2x3x4xf32>
}

// CHECK-LABEL: @gather_nd(
func.func @gather_nd(%x: tensor<3x4xf32>, %indices: tensor<5x1xi64>) -> tensor<5x4xf32> {
  // CHECK: "tessera.gather_nd"(%x, %indices) {batch_dims = 0 : i64} : (tensor<3x4xf32>, tensor<5x1xi64>) -> tensor<5x4xf32>
  %y = "tessera.gather_nd"(%x, %indices) {batch_dims = 0 : i64} : (tensor<3x4xf32>, tensor<5x1xi64>) -> tensor<5x4xf32>
  func.return %y : tensor<5x4xf32>
}

// CHECK-LABEL: @gather_elements(
func.func @gather_elements(%x: tensor<3x4xf32>, %indices: tensor<3x2xi64>) -> tensor<3x2xf32> {
  // CHECK: "tessera.gather_elements"(%x, %indices) {axis = 1 : i64} : (tensor<3x4xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
  %y = "tessera.gather_elements"(%x, %indices) {axis = 1 : i64} : (tensor<3x4xf32>, tensor<3x2xi64>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: @scatter(
func.func @scatter(%x: tensor<3x4xf32>, %indices: tensor<1x4xi64>, %updates: tensor<1x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.scatter"(%x, %indices, %updates) {axis = 0 : i64, reduction = "add"} : (tensor<3x4xf32>, tensor<1x4xi64>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.scatter"(%x, %indices, %updates) {axis = 0 : i64, reduction = "add"} : (tensor<3x4xf32>, tensor<1x4xi64>, tensor<1x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @scatter_nd(
func.func @scatter_nd(%x: tensor<3x4xf32>, %indices: tensor<1x1xi64>, %updates: tensor<1x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.scatter_nd"(%x, %indices, %updates) {reduction = "max"} : (tensor<3x4xf32>, tensor<1x1xi64>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.scatter_nd"(%x, %indices, %updates) {reduction = "max"} : (tensor<3x4xf32>, tensor<1x1xi64>, tensor<1x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @select(
func.func @select(%cond: tensor<3x4xi1>, %a: tensor<3x4xf32>, %b: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.select"(%cond, %a, %b) : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.select"(%cond, %a, %b) : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @shape(
func.func @shape(%x: tensor<?x4xf32>) -> tensor<2xi64> {
  // CHECK: "tessera.shape"(%x) : (tensor<?x4xf32>) -> tensor<2xi64>
  %y = "tessera.shape"(%x) : (tensor<?x4xf32>) -> tensor<2xi64>
  func.return %y : tensor<2xi64>
}

// CHECK-LABEL: @add(
func.func @add(%a: tensor<3x4xf32>, %b: tensor<4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.add"(%a, %b) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %y = "tessera.add"(%a, %b) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @sub(
func.func @sub(%a: tensor<3x4xf32>, %b: tensor<4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.sub"(%a, %b) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %y = "tessera.sub"(%a, %b) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @mul(
func.func @mul(%a: tensor<3x4xf32>, %b: tensor<4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.mul"(%a, %b) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %y = "tessera.mul"(%a, %b) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @div(
func.func @div(%a: tensor<3x4xf32>, %b: tensor<4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.div"(%a, %b) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %y = "tessera.div"(%a, %b) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @pow(
func.func @pow(%a: tensor<3x4xf32>, %b: tensor<4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.pow"(%a, %b) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %y = "tessera.pow"(%a, %b) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @max(
func.func @max(%a: tensor<3x4xf32>, %b: tensor<4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.max"(%a, %b) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %y = "tessera.max"(%a, %b) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @min(
func.func @min(%a: tensor<3x4xf32>, %b: tensor<4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.min"(%a, %b) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %y = "tessera.min"(%a, %b) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @mod(
func.func @mod(%a: tensor<3x4xf32>, %b: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.mod"(%a, %b) {fmod = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.mod"(%a, %b) {fmod = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @cmp(
func.func @cmp(%a: tensor<3x4xf32>, %b: tensor<3x4xf32>) -> tensor<3x4xi1> {
  // CHECK: "tessera.cmp"(%a, %b) {kind = "le"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
  %y = "tessera.cmp"(%a, %b) {kind = "le"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
  func.return %y : tensor<3x4xi1>
}

// CHECK-LABEL: @and(
func.func @and(%a: tensor<3x4xi1>, %b: tensor<3x4xi1>) -> tensor<3x4xi1> {
  // CHECK: "tessera.and"(%a, %b) : (tensor<3x4xi1>, tensor<3x4xi1>) -> tensor<3x4xi1>
  %y = "tessera.and"(%a, %b) : (tensor<3x4xi1>, tensor<3x4xi1>) -> tensor<3x4xi1>
  func.return %y : tensor<3x4xi1>
}

// CHECK-LABEL: @or(
func.func @or(%a: tensor<3x4xi1>, %b: tensor<3x4xi1>) -> tensor<3x4xi1> {
  // CHECK: "tessera.or"(%a, %b) : (tensor<3x4xi1>, tensor<3x4xi1>) -> tensor<3x4xi1>
  %y = "tessera.or"(%a, %b) : (tensor<3x4xi1>, tensor<3x4xi1>) -> tensor<3x4xi1>
  func.return %y : tensor<3x4xi1>
}

// CHECK-LABEL: @xor(
func.func @xor(%a: tensor<3x4xi1>, %b: tensor<3x4xi1>) -> tensor<3x4xi1> {
  // CHECK: "tessera.xor"(%a, %b) : (tensor<3x4xi1>, tensor<3x4xi1>) -> tensor<3x4xi1>
  %y = "tessera.xor"(%a, %b) : (tensor<3x4xi1>, tensor<3x4xi1>) -> tensor<3x4xi1>
  func.return %y : tensor<3x4xi1>
}

// CHECK-LABEL: @not(
func.func @not(%x: tensor<3x4xi1>) -> tensor<3x4xi1> {
  // CHECK: "tessera.not"(%x) : (tensor<3x4xi1>) -> tensor<3x4xi1>
  %y = "tessera.not"(%x) : (tensor<3x4xi1>) -> tensor<3x4xi1>
  func.return %y : tensor<3x4xi1>
}

// CHECK-LABEL: @neg(
func.func @neg(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.neg"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.neg"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @abs(
func.func @abs(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.abs"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.abs"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @exp(
func.func @exp(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.exp"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.exp"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @log(
func.func @log(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.log"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.log"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @sqrt(
func.func @sqrt(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.sqrt"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.sqrt"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @rsqrt(
func.func @rsqrt(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.rsqrt"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.rsqrt"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @tanh(
func.func @tanh(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.tanh"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.tanh"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @erf(
func.func @erf(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.erf"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.erf"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @sin(
func.func @sin(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.sin"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.sin"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @cos(
func.func @cos(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.cos"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.cos"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @sign(
func.func @sign(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.sign"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.sign"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @sigmoid(
func.func @sigmoid(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.sigmoid"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.sigmoid"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @silu(
func.func @silu(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.silu"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.silu"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @softplus(
func.func @softplus(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.softplus"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.softplus"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @floor(
func.func @floor(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.floor"(%x) {kind = "round"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.floor"(%x) {kind = "round"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @isnan(
func.func @isnan(%x: tensor<3x4xf32>) -> tensor<3x4xi1> {
  // CHECK: "tessera.isnan"(%x) : (tensor<3x4xf32>) -> tensor<3x4xi1>
  %y = "tessera.isnan"(%x) : (tensor<3x4xf32>) -> tensor<3x4xi1>
  func.return %y : tensor<3x4xi1>
}

// CHECK-LABEL: @reduce_sum(
func.func @reduce_sum(%x: tensor<3x4xf32>) -> tensor<3x1xf32> {
  // CHECK: "tessera.reduce_sum"(%x) {axes = array<i64: -1>, keepdims = true} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %y = "tessera.reduce_sum"(%x) {axes = array<i64: -1>, keepdims = true} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  func.return %y : tensor<3x1xf32>
}

// CHECK-LABEL: @reduce_mean(
func.func @reduce_mean(%x: tensor<3x4xf32>) -> tensor<3x1xf32> {
  // CHECK: "tessera.reduce_mean"(%x) {axes = array<i64: -1>, keepdims = true} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %y = "tessera.reduce_mean"(%x) {axes = array<i64: -1>, keepdims = true} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  func.return %y : tensor<3x1xf32>
}

// CHECK-LABEL: @reduce_max(
func.func @reduce_max(%x: tensor<3x4xf32>) -> tensor<3x1xf32> {
  // CHECK: "tessera.reduce_max"(%x) {axes = array<i64: -1>, keepdims = true} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %y = "tessera.reduce_max"(%x) {axes = array<i64: -1>, keepdims = true} : (tensor<3x4xf32>) -> tensor<3x1xf32>
  func.return %y : tensor<3x1xf32>
}

// CHECK-LABEL: @reduce_any(
func.func @reduce_any(%x: tensor<3x4xi1>) -> tensor<4xi1> {
  // CHECK: "tessera.reduce_any"(%x) {axes = array<i64: 0>, keepdims = false} : (tensor<3x4xi1>) -> tensor<4xi1>
  %y = "tessera.reduce_any"(%x) {axes = array<i64: 0>, keepdims = false} : (tensor<3x4xi1>) -> tensor<4xi1>
  func.return %y : tensor<4xi1>
}

// CHECK-LABEL: @argmax(
func.func @argmax(%x: tensor<3x4xf32>) -> tensor<3xi64> {
  // CHECK: "tessera.argmax"(%x) {axis = -1 : i64, keepdims = false} : (tensor<3x4xf32>) -> tensor<3xi64>
  %y = "tessera.argmax"(%x) {axis = -1 : i64, keepdims = false} : (tensor<3x4xf32>) -> tensor<3xi64>
  func.return %y : tensor<3xi64>
}

// CHECK-LABEL: @cumsum(
func.func @cumsum(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.cumsum"(%x) {axis = 1 : i64, exclusive = true, reverse = true} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.cumsum"(%x) {axis = 1 : i64, exclusive = true, reverse = true} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @topk(
func.func @topk(%x: tensor<3x4xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>) {
  // CHECK: "tessera.topk"(%x) {k = 2 : i64, axis = -1 : i64, largest = true} : (tensor<3x4xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  %y, %i = "tessera.topk"(%x) {k = 2 : i64, axis = -1 : i64, largest = true} : (tensor<3x4xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>)
  func.return %y, %i : tensor<3x2xf32>, tensor<3x2xi64>
}

// CHECK-LABEL: @matmul(
func.func @matmul(%a: tensor<2x1x3x4xf32>, %b: tensor<5x8x4xf32>) -> tensor<2x5x3x8xf32> {
  // CHECK: "tessera.matmul"(%a, %b) {transpose_a = false, transpose_b = true} : (tensor<2x1x3x4xf32>, tensor<5x8x4xf32>) -> tensor<2x5x3x8xf32>
  %y = "tessera.matmul"(%a, %b) {transpose_a = false, transpose_b = true} : (tensor<2x1x3x4xf32>, tensor<5x8x4xf32>) -> tensor<2x5x3x8xf32>
  func.return %y : tensor<2x5x3x8xf32>
}

// CHECK-LABEL: @conv(
func.func @conv(%x: tensor<1x3x9x9xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>) -> tensor<1x4x4x11xf32> {
  // CHECK: "tessera.conv"(%x, %w, %b) {strides = array<i64: 2, 1>, pads_low = array<i64: 0, 2>, pads_high = array<i64: 0, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x11xf32>
  %y = "tessera.conv"(%x, %w, %b) {strides = array<i64: 2, 1>, pads_low = array<i64: 0, 2>, pads_high = array<i64: 0, 2>, dilations = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x11xf32>
  func.return %y : tensor<1x4x4x11xf32>
}

// CHECK-LABEL: @grouped_matmul(
func.func @grouped_matmul(%x: tensor<7x4xf32>, %w: tensor<2x4x8xf32>, %group_sizes: tensor<2xi64>) -> tensor<7x8xf32> {
  // CHECK: "tessera.grouped_matmul"(%x, %w, %group_sizes) : (tensor<7x4xf32>, tensor<2x4x8xf32>, tensor<2xi64>) -> tensor<7x8xf32>
  %y = "tessera.grouped_matmul"(%x, %w, %group_sizes) : (tensor<7x4xf32>, tensor<2x4x8xf32>, tensor<2xi64>) -> tensor<7x8xf32>
  func.return %y : tensor<7x8xf32>
}

// CHECK-LABEL: @softmax(
func.func @softmax(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.softmax"(%x) {axis = 0 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.softmax"(%x) {axis = 0 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @layernorm(
func.func @layernorm(%x: tensor<3x4xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.layernorm"(%x, %w, %b) {axis = -1 : i64, eps = 1.000000e-05 : f64} : (tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %y = "tessera.layernorm"(%x, %w, %b) {axis = -1 : i64, eps = 1.000000e-05 : f64} : (tensor<3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @rmsnorm(
func.func @rmsnorm(%x: tensor<3x4xf32>, %w: tensor<4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.rmsnorm"(%x, %w) {axis = -1 : i64, eps = 1.000000e-06 : f64, weight_offset = 1.000000e+00 : f64} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %y = "tessera.rmsnorm"(%x, %w) {axis = -1 : i64, eps = 1.000000e-06 : f64, weight_offset = 1.000000e+00 : f64} : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @gelu(
func.func @gelu(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.gelu"(%x) {approximate = "tanh"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.gelu"(%x) {approximate = "tanh"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @silu_mul(
func.func @silu_mul(%gate: tensor<3x4xf32>, %up: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.silu_mul"(%gate, %up) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.silu_mul"(%gate, %up) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @glu(
func.func @glu(%gate: tensor<3x4xf32>, %up: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.glu"(%gate, %up) {activation = "quick_gelu"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.glu"(%gate, %up) {activation = "quick_gelu"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @rope(
func.func @rope(%x: tensor<1x4x5x8xf32>, %cos: tensor<5x4xf32>, %sin: tensor<5x4xf32>) -> tensor<1x4x5x8xf32> {
  // CHECK: "tessera.rope"(%x, %cos, %sin) {style = "interleaved"} : (tensor<1x4x5x8xf32>, tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<1x4x5x8xf32>
  %y = "tessera.rope"(%x, %cos, %sin) {style = "interleaved"} : (tensor<1x4x5x8xf32>, tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<1x4x5x8xf32>
  func.return %y : tensor<1x4x5x8xf32>
}

// CHECK-LABEL: @flash_attn(
func.func @flash_attn(%q: tensor<1x4x5x8xf32>, %k: tensor<1x2x6x8xf32>, %v: tensor<1x2x6x8xf32>, %mask: tensor<5x6xi1>) -> tensor<1x4x5x8xf32> {
  // CHECK: "tessera.flash_attn"(%q, %k, %v, %mask) {scale = 1.250000e-01 : f64, causal = "bottom_right", window = 4 : i64, softcap = 5.000000e+01 : f64} : (tensor<1x4x5x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>, tensor<5x6xi1>) -> tensor<1x4x5x8xf32>
  %y = "tessera.flash_attn"(%q, %k, %v, %mask) {scale = 1.250000e-01 : f64, causal = "bottom_right", window = 4 : i64, softcap = 5.000000e+01 : f64} : (tensor<1x4x5x8xf32>, tensor<1x2x6x8xf32>, tensor<1x2x6x8xf32>, tensor<5x6xi1>) -> tensor<1x4x5x8xf32>
  func.return %y : tensor<1x4x5x8xf32>
}

// CHECK-LABEL: @swiglu_fused(
func.func @swiglu_fused(%x: tensor<3x4xf32>, %w_gate: tensor<4x16xf32>, %w_up: tensor<8x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "tessera.swiglu_fused"(%x, %w_gate, %w_up) {packed = "halves", limit = 7.000000e+00 : f64, alpha = 1.702000e+00 : f64, up_offset = 1.000000e+00 : f64} : (tensor<3x4xf32>, tensor<4x16xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  %y = "tessera.swiglu_fused"(%x, %w_gate, %w_up) {packed = "halves", limit = 7.000000e+00 : f64, alpha = 1.702000e+00 : f64, up_offset = 1.000000e+00 : f64} : (tensor<3x4xf32>, tensor<4x16xf32>, tensor<8x4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @latent_kv_compress(
func.func @latent_kv_compress(%x: tensor<1x6x16xf32>, %w_dkv: tensor<16x4xf32>) -> tensor<1x6x4xf32> {
  // CHECK: "tessera.latent_kv_compress"(%x, %w_dkv) : (tensor<1x6x16xf32>, tensor<16x4xf32>) -> tensor<1x6x4xf32>
  %y = "tessera.latent_kv_compress"(%x, %w_dkv) : (tensor<1x6x16xf32>, tensor<16x4xf32>) -> tensor<1x6x4xf32>
  func.return %y : tensor<1x6x4xf32>
}

// CHECK-LABEL: @latent_kv_expand_k(
func.func @latent_kv_expand_k(%c: tensor<1x6x4xf32>, %w_uk: tensor<4x16xf32>) -> tensor<1x2x6x8xf32> {
  // CHECK: "tessera.latent_kv_expand_k"(%c, %w_uk) {heads = 2 : i64} : (tensor<1x6x4xf32>, tensor<4x16xf32>) -> tensor<1x2x6x8xf32>
  %y = "tessera.latent_kv_expand_k"(%c, %w_uk) {heads = 2 : i64} : (tensor<1x6x4xf32>, tensor<4x16xf32>) -> tensor<1x2x6x8xf32>
  func.return %y : tensor<1x2x6x8xf32>
}

// CHECK-LABEL: @latent_kv_expand_v(
func.func @latent_kv_expand_v(%c: tensor<1x6x4xf32>, %w_uv: tensor<4x8xf32>) -> tensor<1x6x8xf32> {
  // CHECK: "tessera.latent_kv_expand_v"(%c, %w_uv) : (tensor<1x6x4xf32>, tensor<4x8xf32>) -> tensor<1x6x8xf32>
  %y = "tessera.latent_kv_expand_v"(%c, %w_uv) : (tensor<1x6x4xf32>, tensor<4x8xf32>) -> tensor<1x6x8xf32>
  func.return %y : tensor<1x6x8xf32>
}

// CHECK-LABEL: @mla_decode_fused(
func.func @mla_decode_fused(%x: tensor<1x6x16xf32>, %w_dkv: tensor<16x4xf32>, %w_uk: tensor<4x8xf32>, %w_uv: tensor<4x8xf32>, %q: tensor<1x1x8xf32>) -> tensor<1x1x8xf32> {
  // CHECK: "tessera.mla_decode_fused"(%x, %w_dkv, %w_uk, %w_uv, %q) {causal = true} : (tensor<1x6x16xf32>, tensor<16x4xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
  %y = "tessera.mla_decode_fused"(%x, %w_dkv, %w_uk, %w_uv, %q) {causal = true} : (tensor<1x6x16xf32>, tensor<16x4xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<1x1x8xf32>) -> tensor<1x1x8xf32>
  func.return %y : tensor<1x1x8xf32>
}

// CHECK-LABEL: @mla_cached_fused(
func.func @mla_cached_fused(%q_nope: tensor<1x2x1x8xf32>, %q_rope: tensor<1x2x1x4xf32>, %c: tensor<1x6x16xf32>, %k_rope: tensor<1x6x4xf32>, %w_uk: tensor<2x16x8xf32>, %w_uv: tensor<2x16x8xf32>) -> tensor<1x2x1x8xf32> {
  // CHECK: "tessera.mla_cached_fused"(%q_nope, %q_rope, %c, %k_rope, %w_uk, %w_uv) {scale = 1.250000e-01 : f64} : (tensor<1x2x1x8xf32>, tensor<1x2x1x4xf32>, tensor<1x6x16xf32>, tensor<1x6x4xf32>, tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> tensor<1x2x1x8xf32>
  %y = "tessera.mla_cached_fused"(%q_nope, %q_rope, %c, %k_rope, %w_uk, %w_uv) {scale = 1.250000e-01 : f64} : (tensor<1x2x1x8xf32>, tensor<1x2x1x4xf32>, tensor<1x6x16xf32>, tensor<1x6x4xf32>, tensor<2x16x8xf32>, tensor<2x16x8xf32>) -> tensor<1x2x1x8xf32>
  func.return %y : tensor<1x2x1x8xf32>
}

// CHECK-LABEL: @compress_blocks(
func.func @compress_blocks(%k: tensor<1x2x16x8xf32>) -> tensor<1x2x4x8xf32> {
  // CHECK: "tessera.compress_blocks"(%k) {cmp_len = 4 : i64, cmp_stride = 4 : i64} : (tensor<1x2x16x8xf32>) -> tensor<1x2x4x8xf32>
  %y = "tessera.compress_blocks"(%k) {cmp_len = 4 : i64, cmp_stride = 4 : i64} : (tensor<1x2x16x8xf32>) -> tensor<1x2x4x8xf32>
  func.return %y : tensor<1x2x4x8xf32>
}

// CHECK-LABEL: @attn_compressed_blocks(
func.func @attn_compressed_blocks(%q: tensor<1x4x16x8xf32>, %kc: tensor<1x2x4x8xf32>, %vc: tensor<1x2x4x8xf32>) -> tensor<1x4x16x8xf32> {
  // CHECK: "tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x4x16x8xf32>
  %y = "tessera.attn_compressed_blocks"(%q, %kc, %vc) {cmp_len = 4 : i64, cmp_stride = 4 : i64} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>) -> tensor<1x4x16x8xf32>
  func.return %y : tensor<1x4x16x8xf32>
}

// CHECK-LABEL: @attn_sliding_window(
func.func @attn_sliding_window(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x8xf32>) -> tensor<1x4x16x8xf32> {
  // CHECK: "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 4 : i64} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x8xf32>) -> tensor<1x4x16x8xf32>
  %y = "tessera.attn_sliding_window"(%q, %k, %v) {window_size = 4 : i64} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x8xf32>) -> tensor<1x4x16x8xf32>
  func.return %y : tensor<1x4x16x8xf32>
}

// CHECK-LABEL: @attn_top_k_blocks(
func.func @attn_top_k_blocks(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x8xf32>, %scores: tensor<1x2x16x4xf32>) -> tensor<1x4x16x8xf32> {
  // CHECK: "tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 4 : i64, init_blocks = 1 : i64, local_blocks = 2 : i64} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x8xf32>
  %y = "tessera.attn_top_k_blocks"(%q, %k, %v, %scores) {block_size = 4 : i64, top_k = 4 : i64, init_blocks = 1 : i64, local_blocks = 2 : i64} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x4xf32>) -> tensor<1x4x16x8xf32>
  func.return %y : tensor<1x4x16x8xf32>
}

// CHECK-LABEL: @nsa_block_scores(
func.func @nsa_block_scores(%q: tensor<1x4x16x8xf32>, %kc: tensor<1x2x4x8xf32>, %k: tensor<1x2x16x8xf32>) -> tensor<1x2x16x4xf32> {
  // CHECK: "tessera.nsa_block_scores"(%q, %kc, %k) {cmp_len = 4 : i64, cmp_stride = 4 : i64, block_size = 4 : i64} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x16x8xf32>) -> tensor<1x2x16x4xf32>
  %y = "tessera.nsa_block_scores"(%q, %kc, %k) {cmp_len = 4 : i64, cmp_stride = 4 : i64, block_size = 4 : i64} : (tensor<1x4x16x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x16x8xf32>) -> tensor<1x2x16x4xf32>
  func.return %y : tensor<1x2x16x4xf32>
}

// CHECK-LABEL: @native_sparse_attn_fused(
func.func @native_sparse_attn_fused(%q: tensor<1x4x16x8xf32>, %k: tensor<1x2x16x8xf32>, %v: tensor<1x2x16x8xf32>, %gates: tensor<1x4x16x3xf32>) -> tensor<1x4x16x8xf32> {
  // CHECK: "tessera.native_sparse_attn_fused"(%q, %k, %v, %gates) {window_size = 4 : i64, block_size = 4 : i64, top_k = 4 : i64} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x4x16x3xf32>) -> tensor<1x4x16x8xf32>
  %y = "tessera.native_sparse_attn_fused"(%q, %k, %v, %gates) {window_size = 4 : i64, block_size = 4 : i64, top_k = 4 : i64} : (tensor<1x4x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x2x16x8xf32>, tensor<1x4x16x3xf32>) -> tensor<1x4x16x8xf32>
  func.return %y : tensor<1x4x16x8xf32>
}

// CHECK-LABEL: @masked_matmul(
func.func @masked_matmul(%p: tensor<3x5xf32>, %v: tensor<5x4xf32>, %keep: tensor<3x5xi1>) -> tensor<3x4xf32> {
  // CHECK: "tessera.masked_matmul"(%p, %v, %keep) : (tensor<3x5xf32>, tensor<5x4xf32>, tensor<3x5xi1>) -> tensor<3x4xf32>
  %y = "tessera.masked_matmul"(%p, %v, %keep) : (tensor<3x5xf32>, tensor<5x4xf32>, tensor<3x5xi1>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: @keep_mask(
func.func @keep_mask(%q: tensor<1x4x5x8xf32>, %k: tensor<1x2x6x8xf32>) -> tensor<5x6xi1> {
  // CHECK: "tessera.keep_mask"(%q, %k) {causal = "top_left", window = 3 : i64} : (tensor<1x4x5x8xf32>, tensor<1x2x6x8xf32>) -> tensor<5x6xi1>
  %y = "tessera.keep_mask"(%q, %k) {causal = "top_left", window = 3 : i64} : (tensor<1x4x5x8xf32>, tensor<1x2x6x8xf32>) -> tensor<5x6xi1>
  func.return %y : tensor<5x6xi1>
}

// CHECK-LABEL: @repeat_heads(
func.func @repeat_heads(%x: tensor<1x2x6x8xf32>, %like: tensor<1x4x5x8xf32>) -> tensor<1x4x6x8xf32> {
  // CHECK: "tessera.repeat_heads"(%x, %like) : (tensor<1x2x6x8xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x6x8xf32>
  %y = "tessera.repeat_heads"(%x, %like) : (tensor<1x2x6x8xf32>, tensor<1x4x5x8xf32>) -> tensor<1x4x6x8xf32>
  func.return %y : tensor<1x4x6x8xf32>
}
