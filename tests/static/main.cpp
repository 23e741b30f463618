// SPDX-License-Identifier: BSL-1.0
// The other files of this program have been compiled: that was the test.
int main() {}
