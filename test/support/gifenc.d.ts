/** The parts of gifenc that are used here; the package brings no types. */
declare module 'gifenc' {
  type Palette = number[][];

  interface Encoder {
    writeFrame(
      indexed: Uint8Array,
      width: number,
      height: number,
      options: {
        palette?: Palette;
        /** In ms. */
        delay?: number;
        transparent?: boolean;
        transparentIndex?: number;
        /** 1 keeps the frame before below this one. */
        dispose?: number;
      },
    ): void;
    finish(): void;
    bytes(): Uint8Array;
  }

  const gifenc: {
    GIFEncoder(): Encoder;
    quantize(rgba: Uint8Array, maxColors: number): Palette;
    applyPalette(rgba: Uint8Array, palette: Palette): Uint8Array;
  };
  export default gifenc;
}
