import type { ActionResult, LiveEvent } from '../page-protocol.ts';
import type { UserAction } from '../user-action.ts';

const headers = { 'x-sandbox': 'page' };
const UNREACHABLE: ActionResult = {
  ok: false,
  error: 'The sandbox is not responding. Is `npm run sandbox` still running?',
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

/** Performs an action that a person would do in Slack. */
export function performAction(action: UserAction): Promise<ActionResult> {
  return post('/action', action);
}

export function setSwitch(id: string, on: boolean): Promise<ActionResult> {
  return post('/switch', { id, on });
}

export function controlBot(what: 'crash' | 'start'): Promise<ActionResult> {
  return post('/bot', { do: what });
}

/** Uploads a file; resolves to its key for an action. @throws if the upload fails */
export async function upload(file: File): Promise<string> {
  const response = await fetch(`/uploads?name=${encodeURIComponent(file.name)}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': file.type || 'application/octet-stream' },
    body: file,
  });
  if (!response.ok) throw new Error(`The upload of ${file.name} failed.`);
  const { key }: { key: string } = await response.json();
  return key;
}

/** Subscribes to what one person sees; `onConnection` is called when the connection is lost and restored. Returns a function that unsubscribes. */
export function subscribe(
  me: string | undefined,
  onEvent: (event: LiveEvent) => void,
  onConnection: (isLost: boolean) => void,
): () => void {
  const source = new EventSource(`/live${me === undefined ? '' : `?as=${encodeURIComponent(me)}`}`);
  source.onmessage = ({ data }: MessageEvent<string>) => {
    const event: LiveEvent = JSON.parse(data);
    onEvent(event);
  };
  source.onopen = () => onConnection(false);
  source.onerror = () => onConnection(true);
  return () => source.close();
}
