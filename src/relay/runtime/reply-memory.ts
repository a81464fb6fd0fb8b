import { AgentError } from '../../agent/errors.ts';
import type { ContentBlock } from '../../agent/service-schema.ts';

/** Bytes of the replies that the running turns of all workspaces' own accounts keep. */
const MAX_BYTES = 32 * 1024 * 1024;
const RETRY_AFTER_MS = 5_000;

/**
 * The memory for the replies of services that workspace admins set: a running turn keeps what it read last. Once it is
 * full, no reply of a workspace that uses its share grows until other turns of that workspace end.
 */
export class ReplyMemory {
  readonly #maxBytes: number;
  readonly #workspaces = new Map<string, Map<string, number>>();

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** A turn keeps this content instead of what it kept. Throws an AgentError (`rate_limited`) where there is no room for it. */
  keep(turn: { workspace: string; id: string }, content: readonly ContentBlock[]): void {
    const turns = this.#workspaces.get(turn.workspace) ?? new Map<string, number>();
    this.#workspaces.set(turn.workspace, turns);
    const bytes = keptBytes(content);
    const growth = bytes - (turns.get(turn.id) ?? 0);
    if (growth > 0 && this.#isFull(growth) && !this.#isWithinShare(turns, growth)) {
      const sentence =
        "The replies of this workspace's agent take too much memory; they continue when others end.";
      throw new AgentError('rate_limited', { sentence, outcome: 'refused', retryAfterMs: RETRY_AFTER_MS });
    }
    turns.set(turn.id, bytes);
  }

  /** The turn is over in this process. */
  release({ workspace, id }: { workspace: string; id: string }): void {
    const turns = this.#workspaces.get(workspace);
    turns?.delete(id);
    if (turns?.size === 0) this.#workspaces.delete(workspace);
  }

  #isFull(growth: number): boolean {
    const total = [...this.#workspaces.values()].reduce((sum, turns) => sum + totalBytes(turns), 0);
    return total + growth > this.#maxBytes;
  }

  #isWithinShare(turns: ReadonlyMap<string, number>, growth: number): boolean {
    return totalBytes(turns) + growth <= this.#maxBytes / this.#workspaces.size;
  }
}

function totalBytes(turns: ReadonlyMap<string, number>): number {
  return [...turns.values()].reduce((sum, bytes) => sum + bytes, 0);
}

/** Two bytes a character, and what objects take. */
function keptBytes(content: readonly ContentBlock[]): number {
  let bytes = 0;
  for (const block of content)
    bytes += 200 + 2 * (block.type === 'text' ? block.text.length : JSON.stringify(block).length);
  return bytes;
}
