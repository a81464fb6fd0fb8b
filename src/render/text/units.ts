/** A duration in ms for people: "under a second", "45 s", "6 min", "1 h 5 min". */
export function formatDuration(ms: number): string {
  const seconds = Math.floor(Math.max(ms, 0) / 1_000);
  if (seconds < 1) return 'under a second';
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > 0) return withRest(`${days} d`, hours % 24, 'h');
  return withRest(`${hours} h`, minutes % 60, 'min');
}

/** How long ago something happened (ms): "just now", "6 min ago". */
export function formatAge(ms: number): string {
  return ms < 60_000 ? 'just now' : `${formatDuration(ms)} ago`;
}

/** A running time in ms; within the first minute in steps of 5 s, so that fewer edits differ. */
export function formatRunningTime(ms: number): string {
  const seconds = Math.max(ms, 0) / 1_000;
  if (seconds < 5) return 'just started';
  return seconds < 60 ? `${Math.floor(seconds / 5) * 5} s` : formatDuration(ms);
}

function withRest(head: string, rest: number, unit: string): string {
  return rest === 0 ? head : `${head} ${rest} ${unit}`;
}

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

/** A number of things: "1 file", "2 files". */
export function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}
