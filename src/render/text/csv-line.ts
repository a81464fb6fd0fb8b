/** Values as a line of CSV, each in quotes; without the end of the line. */
export function csvLine(values: readonly unknown[]): string {
  return values.map((value) => `"${String(value).replaceAll('"', '""')}"`).join(',');
}
