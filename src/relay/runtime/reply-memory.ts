import { SETTINGS_ACCOUNT } from '../../store/workspaces/accounts.ts';
import { type Lease, sleepWithLease } from './lease.ts';

/** Bytes that the replies of all workspaces' own accounts share. */
const SHARED_BYTES = 32 * 1024 * 1024;
/** Turns that may keep one whole response each beyond that, from the reserve. */
const MAX_LOANS = 3;
/** A settled reply that has the reserve for longer (ms) no longer holds up those of other workspaces. */
const LOAN_OVERDUE_MS = 10 * 60_000;
/** A growing reply that waits for room is read this often (ms): it may have settled. */
const RECHECK_MS = 30_000;

type Part = 'reply' | 'results';

/** A turn that keeps something, or waits for room. */
interface Holder {
  readonly workspace: string;
  /** Bytes of each part that it keeps. */
  readonly parts: Record<Part, number>;
  /** Bytes that count, or are set aside for the next read. */
  bytes: number;
  isSettled: boolean;
  /** Bytes that it has no room for. */
  needs: number | undefined;
  /** When it got the reserve (ms, as `performance.now()`). */
  lentAt: number | undefined;
  /** Ends its wait for room. */
  wake: AbortController | undefined;
}

/** What one turn keeps. */
export type TurnMemory = ReturnType<ReplyMemory['of']>;

/** How many bytes a response takes that a turn keeps; `isSettled`: it is the last one of its kind. */
export interface KeptSize {
  bytes: number;
  isSettled: boolean;
}

/**
 * The memory for the replies of services that workspace admins set. Once it is full, a workspace that uses its share gets
 * no more until its turns end. Then the reserve goes to the oldest turn whose reply grows, and to settled replies one
 * after the other: so turns that all wait for room cannot wait for each other.
 */
export class ReplyMemory {
  readonly #sharedBytes: number;
  readonly #now: () => number;
  /** By turn, the oldest first. */
  readonly #holders = new Map<string, Holder>();

  constructor(sharedBytes = SHARED_BYTES, now = () => performance.now()) {
    this.#sharedBytes = sharedBytes;
    this.#now = now;
  }

  /** What a turn keeps of the account's responses. The operator's account has no limit. */
  of({ workspace, id }: { workspace: string; id: string }, account: string) {
    // The whole turn would stay in memory, as it is now.
    const turn = { workspace, id };
    const isLimited = account !== SETTINGS_ACCOUNT;
    // This is a function of its own, so that nothing refers to a value while the turn waits.
    const readOnce = async <T>(part: Part, read: () => Promise<T>, sizeOf: (value: T) => KeptSize) => {
      const value = await read();
      return !isLimited || this.keep(turn, part, sizeOf(value)) ? { value } : undefined;
    };
    return {
      /** Reads what the turn keeps; without room, drops it, waits, reads again. Throws what these throw. */
      read: async <T>(
        part: Part,
        read: () => Promise<T>,
        sizeOf: (value: T) => KeptSize,
        { lease, onWait }: { lease: Lease; onWait?: (() => void) | undefined },
      ): Promise<T> => {
        for (;;) {
          const kept = await readOnce(part, read, sizeOf);
          if (kept !== undefined) return kept.value;
          onWait?.();
          await this.#waitForRoom(turn, lease);
        }
      },
      /** Frees what was kept of this part. */
      drop: (part: Part) => void (isLimited && this.keep(turn, part, { bytes: 0, isSettled: true })),
      [Symbol.dispose]: () => this.release(turn),
    };
  }

  /** Has a turn keep this much of a part, instead of what it kept before; false if there is no room for it now. */
  keep({ workspace, id }: { workspace: string; id: string }, part: Part, size: KeptSize): boolean {
    const holder = this.#holders.get(id) ?? this.#add(workspace, id);
    holder.isSettled = size.isSettled;
    holder.needs = size.bytes + holder.parts[part === 'reply' ? 'results' : 'reply'];
    this.#giveRoom();
    if (holder.needs !== undefined) return false;
    holder.parts[part] = size.bytes;
    return true;
  }

  /** Waits for room for what the turn could not keep; a growing reply only until it is to be read again. */
  async #waitForRoom({ id }: { id: string }, lease: Lease): Promise<void> {
    for (;;) {
      const holder = this.#holders.get(id);
      if (holder?.needs === undefined) return;
      holder.wake = new AbortController();
      await sleepWithLease(RECHECK_MS, lease, holder.wake.signal);
      this.#giveRoom();
      if (!holder.isSettled) return;
    }
  }

  /** The turn is over in this process. */
  release({ id }: { id: string }): void {
    if (this.#holders.delete(id)) this.#giveRoom();
  }

  #add(workspace: string, id: string): Holder {
    const empty = { bytes: 0, isSettled: false, needs: undefined, lentAt: undefined };
    const holder: Holder = { workspace, parts: { reply: 0, results: 0 }, ...empty, wake: undefined };
    this.#holders.set(id, holder);
    return holder;
  }

  /** Gives room to the turns that need it: settled ones first, then the oldest. */
  #giveRoom(): void {
    const waiting = [...this.#holders.values()].filter(({ needs }) => needs !== undefined);
    for (const holder of waiting.sort((a, b) => Number(b.isSettled) - Number(a.isSettled))) {
      const { needs = 0, bytes, lentAt } = holder;
      if (this.#fits(holder, needs)) holder.lentAt = undefined;
      // To keep more than before, it needs the reserve, unless it has that already.
      else if (needs > bytes && lentAt === undefined) {
        if (!this.#mayBorrow(holder)) continue;
        holder.lentAt = this.#now();
      }
      holder.bytes = needs;
      holder.needs = undefined;
      holder.wake?.abort();
    }
  }

  /** Whether this much fits the shared memory: there is room, or it is within the workspace's share. */
  #fits(holder: Holder, bytes: number): boolean {
    const workspaces = new Set<string>();
    const growth = bytes - sharedBytesOf(holder);
    let [total, own] = [growth, growth];
    for (const other of this.#holders.values()) {
      workspaces.add(other.workspace);
      total += sharedBytesOf(other);
      if (other.workspace === holder.workspace) own += sharedBytesOf(other);
    }
    if (total <= this.#sharedBytes) return true;
    return own <= this.#sharedBytes / workspaces.size && total <= 2 * this.#sharedBytes;
  }

  /** Whether a turn may have the reserve. Overdue settled replies do not hold up those of other workspaces. */
  #mayBorrow({ workspace, isSettled }: Holder): boolean {
    const isOverdue = ({ lentAt = 0 }: Holder) => this.#now() - lentAt > LOAN_OVERDUE_MS;
    const lent = [...this.#holders.values()].filter(({ lentAt }) => lentAt !== undefined);
    const alike = lent.filter((other) => other.isSettled === isSettled);
    const mayPass = (other: Holder) => isSettled && other.workspace !== workspace && isOverdue(other);
    return lent.length < MAX_LOANS && alike.every(mayPass);
  }
}

/** What a turn takes beside the reserve. */
function sharedBytesOf({ bytes, lentAt }: Holder): number {
  return lentAt === undefined ? bytes : 0;
}
