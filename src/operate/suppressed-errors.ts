/** The failures that one stands for, the first one first: what was closed after it may have failed as well. */
export function flattenSuppressedErrors(error: unknown): unknown[] {
  if (!(error instanceof SuppressedError)) return [error];
  return [...flattenSuppressedErrors(error.suppressed), ...flattenSuppressedErrors(error.error)];
}
