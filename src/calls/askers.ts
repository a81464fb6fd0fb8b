import { AsyncLocalStorage } from 'node:async_hooks';

const NOBODY: ReadonlySet<string> = new Set();
const current = new AsyncLocalStorage<ReadonlySet<string>>();

/** Does work that somebody asks for: a person, or a kind of job. Where calls wait for a rate limit, askers take turns. */
export function askedBy<T>(asker: string, work: () => T): T {
  return current.run(new Set([asker]), work);
}

/** Who asks for what is being done; nobody if that is not said. The set grows while others join a shared load. */
export function currentAskers(): ReadonlySet<string> {
  return current.getStore() ?? NOBODY;
}

/** Loads that several askers share: each counts as asked for by all who wait for it. */
export class SharedLoads {
  readonly #askers = new Map<string, Set<string>>();

  /** Runs `load`, which joins the one under the same key that runs. */
  async join<T>(key: string, load: () => Promise<T>): Promise<T> {
    const askers = this.#askers.get(key) ?? new Set();
    this.#askers.set(key, askers);
    for (const asker of currentAskers()) askers.add(asker);
    return await current.run(askers, load).finally(() => this.#askers.delete(key));
  }
}
