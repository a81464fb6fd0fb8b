import type { ActionResult, LiveEvent } from '../page-protocol.ts';
import type { UserAction } from '../user-action.ts';

const headers = { 'x-sandbox': 'page' };
const UNREACHABLE: ActionResult = {
  ok: false,
  error: 'The sandbox does not answer. Is `npm run sandbox` still running?',
};

async function post(path: string, body: unknown): Promise<ActionResult> {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const outcome: ActionResult = await response.json();
    return outcome;
  } catch {
    return UNREACHABLE;
  }
}

/** Does what a person would do in Slack. */
export function performAction(action: UserAction): Promise<ActionResult> {
  return post('/action', action);
}

export function setSwitch(id: string, on: boolean): Promise<ActionResult> {
  return post('/switch', { id, on });
}

export function controlBot(what: 'crash' | 'start'): Promise<ActionResult> {
  return post('/bot', { do: what });
}

/** Sends a file to the sandbox; the answer is its key for a deed. @throws if it does not arrive */
export async function upload(file: File): Promise<string> {
  const response = await fetch(`/uploads?name=${encodeURIComponent(file.name)}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': file.type || 'application/octet-stream' },
    body: file,
  });
  if (!response.ok) throw new Error(`${file.name} did not arrive.`);
  const { key }: { key: string } = await response.json();
  return key;
}

/** Hears what one person sees, until it is closed; `lost` is told when the sandbox goes away and comes back. */
export function subscribe(
  me: string | undefined,
  hear: (event: LiveEvent) => void,
  lost: (away: boolean) => void,
): () => void {
  const source = new EventSource(`/live${me === undefined ? '' : `?as=${encodeURIComponent(me)}`}`);
  source.onmessage = ({ data }: MessageEvent<string>) => {
    const event: LiveEvent = JSON.parse(data);
    hear(event);
  };
  source.onopen = () => lost(false);
  source.onerror = () => lost(true);
  return () => source.close();
}
