/** What a test file has opened and not closed yet: left open, it goes on in the file's worker, in the middle of later files. */
export const leftOpen = new Set<string>();
