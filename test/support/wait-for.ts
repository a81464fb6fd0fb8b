import { vi } from 'vitest';

/** Waits until a check passes, also on a machine that is busy: vitest's own wait ends after a second. */
export function waitFor<T>(
  check: () => T | Promise<T>,
  options: { timeout?: number; interval?: number } = {},
): Promise<T> {
  return vi.waitFor(check, { timeout: 20_000, ...options });
}
