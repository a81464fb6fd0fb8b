/** Passes the bytes on. Throws where their number is not the size that Slack was given. */
export async function* withExactSize(
  bytes: AsyncIterable<Uint8Array>,
  sizeBytes: number,
  name: string,
): AsyncGenerator<Uint8Array> {
  let left = sizeBytes;
  for await (const chunk of bytes) {
    left -= chunk.length;
    if (left < 0) break;
    yield chunk;
  }
  if (left !== 0) throw new Error(`“${name}” does not have the size that the service announced.`);
}
