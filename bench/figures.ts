/** The mean of some numbers; NaN of none. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The smallest value that is at least as large as this share (0 to 1) of all; NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Rounded for a report. */
export function rounded(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}
