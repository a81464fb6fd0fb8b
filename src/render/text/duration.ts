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
