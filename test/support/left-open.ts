import { beforeAll } from 'vitest';

/** What a test file has opened and not closed yet: left open, it goes on in the file's worker, in the middle of later files. */
export const leftOpen = new Set<string>();

/** Whether the file's tests are still being collected: what is opened now is for tests that may all be passed over. */
export const file = { isCollected: false };

/** Counts something as open until `close`, which `whenDone` takes, has run. Nothing closes what only skipped tests would use. */
export function closeWhenDone(
  name: string,
  close: () => Promise<void>,
  whenDone: (close: () => Promise<void>) => void,
): void {
  const open = () => void leftOpen.add(name);
  if (file.isCollected) open();
  else beforeAll(open);
  whenDone(async () => {
    await close();
    leftOpen.delete(name);
  });
}
