kernel void launch(void) {}
