/** The boundary of a multipart form; undefined for other content types. */
export function fileBoundary(contentType: string): string | undefined {
  return /^multipart\/form-data;.*boundary="?([^";]+)"?/.exec(contentType)?.[1];
}

/** The bytes of the first part of a multipart form, without its headers. */
export async function* filePart(body: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Buffer> {
  const end = Buffer.from(`\r\n--${boundary}`);
  let held = Buffer.alloc(0);
  let inside = false;
  let over = false;
  for await (const chunk of body) {
    if (over) continue;
    held = Buffer.concat([held, chunk]);
    if (!inside) {
      const headersEnd = held.indexOf('\r\n\r\n');
      if (headersEnd === -1) continue;
      held = held.subarray(headersEnd + 4);
      inside = true;
    }
    const at = held.indexOf(end);
    over = at !== -1;
    const ready = over ? at : Math.max(0, held.length - end.length);
    if (ready > 0) yield held.subarray(0, ready);
    held = held.subarray(ready);
  }
}
