/** The bytes where they are as many as promised; Slack was told the number. */
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
  if (left !== 0) throw new Error(`“${name}” has not the size that the service told.`);
}
