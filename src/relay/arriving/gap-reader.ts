import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ThreadMessage } from '../../slack/read-back.ts';
import { type CatchUp, CHANNEL_ITSELF } from '../../store/catch-ups.ts';
import type { RelayParts, Workspace } from '../context.ts';
import { allOver, isOverdue, passing, pauseMs } from '../patience.ts';
import { type Admission, isDirect, isEarlier, isWritten, type PersonMessage, wordsIn } from './arrivals.ts';
import type { Inbox } from './inbox.ts';

/** How long a process has a place for itself (ms), and how often it says that it still reads. */
const holdMs = 30_000;
const holdEveryMs = 10_000;
/** A place that cannot be read for so long (ms) is given up; what is noted of it is kept no longer either. */
const giveUpAfterMs = 3 * 24 * 60 * 60_000;
/** Whoever looks for a lost post or the words before a question goes first. */
const last = { order: 9, since: 0 };

/** What reading back needs beside the relay's parts. */
export interface GapReaderParts {
  parts: RelayParts;
  inbox: Pick<Inbox, 'accept'>;
  workspaces(): readonly string[];
  /** Hears what became of each message, as for one that Slack delivered. */
  onAdmission: (
    admission: Admission,
    event: { workspace: string; channel: string; ts: string; person: string },
  ) => void;
}

/**
 * Reads back what was said in a gap of receiving: the newest thread first, one after the other, in the lane that
 * Slack allows for it. The inbox knows what it has already. What is left to read stands in the database, so another
 * process, or the next start, goes on with it.
 */
export class GapReader {
  readonly #parts: GapReaderParts;
  readonly #process = randomUUID();
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;

  constructor(parts: GapReaderParts) {
    this.#parts = parts;
  }

  /** Reads what there is to read, unless it is at it. */
  look(): void {
    if (this.#closing.signal.aborted) return;
    this.#running ??= this.#all()
      .catch((error: unknown) => {
        this.#parts.parts.log.debug({ err: error }, 'reading back stopped; it goes on with the next look');
      })
      .finally(() => {
        this.#running = undefined;
      });
  }

  /** Stops and leaves the rest to others. */
  async stop(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #all(): Promise<void> {
    const { catchUps } = this.#parts.parts.store;
    const holding = setInterval(() => {
      // Where it fails, another process may read the same: the inbox takes each message once.
      catchUps.hold(this.#process, holdMs).catch(() => undefined);
    }, holdEveryMs);
    try {
      const installed = new Set(this.#parts.workspaces());
      const waiting = (await catchUps.workspaces()).filter((workspace) => installed.has(workspace));
      // One workspace in which Slack is slow or refuses the token keeps no other waiting.
      await allOver(waiting.map((workspace) => this.#workspace(workspace)));
    } finally {
      clearInterval(holding);
      await catchUps.hold(this.#process, 0);
    }
  }

  async #workspace(workspace: string): Promise<void> {
    const { store, log } = this.#parts.parts;
    const total = { places: 0, recovered: 0 };
    while (!this.#closing.signal.aborted) {
      const place = await store.catchUps.claim(workspace, this.#process, holdMs);
      if (place === undefined) break;
      const recovered = await this.#patiently(place);
      await store.catchUps.done(place);
      total.places += 1;
      total.recovered += recovered;
      const { channel, root } = place;
      if (recovered > 0) log.info({ workspace, channel, root, recovered }, 'messages of the gap were found');
    }
    if (total.places > 0) log.info({ workspace, ...total }, 'what was said in the gap is read back');
  }

  /** Reads a place until that succeeds or cannot; the answer is how many messages were new. */
  async #patiently(place: CatchUp): Promise<number> {
    const { signal } = this.#closing;
    const { workspace, channel, root } = place;
    const since = new Date();
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#read(place);
      } catch (error) {
        signal.throwIfAborted();
        const wait = passing(error);
        if (wait === undefined || isOverdue(since, giveUpAfterMs)) {
          this.#parts.parts.log.warn({ workspace, channel, root, err: error }, 'cannot be read back');
          return 0;
        }
        await sleep(Math.max(wait.waitMs ?? 0, pauseMs(attempt)), undefined, { signal });
      }
    }
  }

  async #read(place: CatchUp): Promise<number> {
    const { parts, inbox, onAdmission } = this.#parts;
    const workspace = parts.workspace(place.workspace);
    if (workspace === undefined) return 0;
    let recovered = 0;
    for (const { message, replies } of await this.#missed(workspace, place)) {
      const admission = await inbox.accept({ kind: 'message', message }, workspace.bot);
      const { channel, ts, root, person } = message;
      onAdmission(admission, { workspace: place.workspace, channel, ts, person });
      if (admission.kind === 'admitted') recovered += 1;
      // A thread that nobody knew of when the gap was noted: what was said in it is missing too.
      const known = admission.kind === 'admitted' || admission.kind === 'known';
      if (known && replies) await parts.store.catchUps.add({ workspace: place.workspace, channel, root }, ts);
    }
    return recovered;
  }

  /** People's messages of a place, oldest first. */
  async #missed(
    workspace: Workspace,
    place: CatchUp,
  ): Promise<{ message: PersonMessage; replies: boolean }[]> {
    const itself = place.root === CHANNEL_ITSELF;
    const { channel, since: oldest } = place;
    const { signal } = this.#closing;
    const request = { channel, oldest, signal, rank: () => last, ...(!itself && { threadTs: place.root }) };
    const found: { message: PersonMessage; replies: boolean }[] = [];
    for await (const read of workspace.readBack.messages(request)) {
      const message = isEarlier(read.ts, oldest) ? undefined : personMessage(workspace, channel, read);
      if (message !== undefined) found.push({ message, replies: itself && (read.reply_count ?? 0) > 0 });
    }
    return itself ? found.reverse() : found;
  }
}

function personMessage(
  workspace: Workspace,
  channel: string,
  read: ThreadMessage,
): PersonMessage | undefined {
  const { ts, user, bot_id, subtype } = read;
  if (user === undefined || user === workspace.bot.userId || bot_id !== undefined || !isWritten(subtype)) {
    return undefined;
  }
  return {
    workspace: workspace.id,
    channel,
    channelKind: isDirect(channel) ? 'im' : 'unknown',
    ts,
    root: read.thread_ts ?? ts,
    person: user,
    words: wordsIn(read),
  };
}
