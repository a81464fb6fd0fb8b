/** The mean; NaN for an empty list. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The smallest value that is at least as large as this share (0 to 1) of all values; NaN for an empty list. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Rounds to this many digits after the decimal point. */
export function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}

/** The slope of the least-squares line through the points; NaN without two different x. */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const middleX = mean(points.map(([x]) => x));
  const middleY = mean(points.map(([, y]) => y));
  const above = points.reduce((sum, [x, y]) => sum + (x - middleX) * (y - middleY), 0);
  return above / points.reduce((sum, [x]) => sum + (x - middleX) ** 2, 0);
}
