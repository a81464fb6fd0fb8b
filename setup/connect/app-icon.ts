import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const REQUEST_TIMEOUT_MS = 30_000;
const answerSchema = z.looseObject({ ok: z.boolean(), error: z.string().optional() });

/** Sets the app's icon with the configuration token of its owner; resolves to why Slack did not, if it did not. */
export async function setAppIcon(apiUrl: string, token: string, appId: string): Promise<string | undefined> {
  const form = new FormData();
  form.set('app_id', appId);
  form.set(
    'file',
    new Blob([await readFile(new URL('../icon.png', import.meta.url))], { type: 'image/png' }),
    'icon.png',
  );
  try {
    const response = await fetch(new URL('apps.icon.set', apiUrl), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: form,
      redirect: 'error',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const answer = answerSchema.parse(await response.json());
    return answer.ok ? undefined : (answer.error ?? `status ${response.status}`);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
