import { randomBytes } from 'node:crypto';

/**
 * Generates UUIDs of version 7 (RFC 9562) that only increase, even if the clock goes back: the order of jobs that one
 * transaction wrote for a thread is the order of their ids. `now` returns milliseconds since 1970.
 */
export function uuidV7Generator(now: () => number = Date.now): () => string {
  let lastMs = 0;
  let counter = 0;
  return () => {
    const ms = now();
    if (ms > lastMs) {
      lastMs = ms;
      counter = 0;
    } else {
      counter += 1;
      // The 12-bit counter overflows: use the next millisecond.
      if (counter > 0xfff) {
        lastMs += 1;
        counter = 0;
      }
    }
    const time = lastMs.toString(16).padStart(12, '0');
    const order = counter.toString(16).padStart(3, '0');
    const random = randomBytes(8);
    random.writeUInt8((random.readUInt8(0) & 0x3f) | 0x80, 0);
    const tail = random.toString('hex');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${order}-${tail.slice(0, 4)}-${tail.slice(4)}`;
  };
}
