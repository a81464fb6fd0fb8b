import { readFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('./browser/', import.meta.url));
const CONTENT_TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  ts: 'text/javascript; charset=utf-8',
};

/** A file of the page for the browser. TypeScript loses its types and keeps its line numbers. */
export async function asset(path: string): Promise<{ kind: string; body: string } | undefined> {
  const ending = /^(?:[a-z-]+\/)?[a-z-]+\.(html|css|ts)$/.exec(path)?.[1];
  const kind = CONTENT_TYPES[ending ?? ''];
  if (kind === undefined) return undefined;
  try {
    const text = await readFile(`${folder}${path}`, 'utf8');
    return { kind, body: ending === 'ts' ? stripTypeScriptTypes(text) : text };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
