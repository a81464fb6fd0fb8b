import gifenc from 'gifenc';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';

interface Frame {
  /** When it was seen (ms). */
  at: number;
  pixels: Uint8Array;
}

/** The first frame and the last one stay so long (ms), so that people can read them. */
const FIRST_MS = 900;
const LAST_MS = 2_800;
/** The longest that any other frame stays (ms): Slack wants three seconds between edits, people want less. */
const MAX_FRAME_MS = 1_300;
/** Two colours that differ less in each channel count as one: the same text is not drawn the same twice. */
const MAX_CHANNEL_DIFFERENCE = 2;

/** Screenshots of a page over time, as an animated GIF. Frames that show nothing new are left out. */
export class Recording {
  readonly #page: Page;
  readonly #frames: Frame[] = [];
  #size = { width: 0, height: 0 };

  constructor(page: Page) {
    this.#page = page;
  }

  /** Takes one frame. */
  async take(): Promise<void> {
    const at = performance.now();
    const { data, width, height } = PNG.sync.read(await this.#page.screenshot());
    this.#size = { width, height };
    const last = this.#frames.at(-1);
    if (last === undefined || !isSame(last.pixels, data)) this.#frames.push({ at, pixels: data });
  }

  /** The GIF; the times between frames are those of the recording, up to a second or so. */
  gif(): Uint8Array {
    const { width, height } = this.#size;
    const palette = gifenc.quantize(sampleOf(this.#frames), 255);
    const transparentIndex = palette.length;
    const colours = [...palette, [0, 0, 0]];
    const encoder = gifenc.GIFEncoder();
    let shown: Uint8Array | undefined;
    for (const [index, { at, pixels }] of this.#frames.entries()) {
      const indexed = gifenc.applyPalette(pixels, palette);
      const next = this.#frames[index + 1];
      const delay =
        next === undefined ? LAST_MS : index === 0 ? FIRST_MS : Math.min(next.at - at, MAX_FRAME_MS);
      encoder.writeFrame(
        shown === undefined ? indexed : changes(shown, indexed, transparentIndex),
        width,
        height,
        {
          ...(index === 0 ? { palette: colours } : {}),
          delay,
          transparent: true,
          transparentIndex,
          dispose: 1,
        },
      );
      shown = indexed;
    }
    encoder.finish();
    return encoder.bytes();
  }
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.every((value, index) => Math.abs(value - (other[index] ?? 0)) <= MAX_CHANNEL_DIFFERENCE);
}

/** Some frames in one picture, from which the colours are chosen; the last ones show the most. */
function sampleOf(frames: readonly Frame[]): Uint8Array {
  const chosen = [frames[0], frames[Math.floor(frames.length / 2)], frames.at(-1)];
  return Uint8Array.from(Buffer.concat(chosen.flatMap((frame) => frame?.pixels ?? [])));
}

/** Only the pixels that change; long runs of the transparent index pack well. */
function changes(before: Uint8Array, after: Uint8Array, transparentIndex: number): Uint8Array {
  return after.map((colour, at) => (colour === before[at] ? transparentIndex : colour));
}
