const UNITS = ['KB', 'MB', 'GB', 'TB'] as const;

/** A size in bytes for people: "0 bytes", "812 bytes", "2.4 MB" (1 KB is 1,000 bytes). */
export function formatSize(bytes: number | null): string {
  if (bytes === null || !Number.isFinite(bytes) || bytes < 0) return 'unknown size';
  if (bytes < 1_000) return bytes === 1 ? '1 byte' : `${Math.floor(bytes)} bytes`;
  let value = bytes;
  let unit: string = UNITS[0];
  for (const name of UNITS) {
    value /= 1_000;
    unit = name;
    if (value < 999.5) break;
  }
  return `${value < 9.95 ? withoutTrailingZero(value.toFixed(1)) : Math.round(value)} ${unit}`;
}

function withoutTrailingZero(number: string): string {
  return number.replace(/\.0$/, '');
}
