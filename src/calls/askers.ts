import { AsyncLocalStorage } from 'node:async_hooks';

/** How soon calls are needed: `now` by default; then `names` in texts, what people only `view`, and last what is `missed`. */
const NEEDS = { now: 0, names: 1, view: 2, missed: 3 };

/** Who asks for what is being done, nobody if that is not said, and how soon they need it: the smaller, the sooner. */
export interface Asking {
  readonly askers: ReadonlySet<string>;
  readonly need: number;
}

const NOBODY: Asking = { askers: new Set(), need: NEEDS.now };
const current = new AsyncLocalStorage<Asking>();

/** Does work that somebody asks for: a person, or a kind of job. Where calls wait for a rate limit, askers take turns. */
export function askedBy<T>(asker: string, work: () => T): T {
  return current.run({ ...currentAsking(), askers: new Set([asker]) }, work);
}

/** Does work that others' may pass where calls wait for a rate limit. */
export function neededFor<T>(need: keyof typeof NEEDS, work: () => T): T {
  const asking = currentAsking();
  return current.run({ ...asking, need: Math.max(asking.need, NEEDS[need]) }, work);
}

/** Who asks for what is being done. It changes while others join a shared load. */
export function currentAsking(): Asking {
  return current.getStore() ?? NOBODY;
}

/** Loads that several askers share: each counts as asked for by all who wait for it, and as needed as by the most urgent. */
export class SharedLoads {
  readonly #asking = new Map<string, { askers: Set<string>; need: number }>();

  /** Runs `load`, which joins the one under the same key that runs. */
  async join<T>(key: string, load: () => Promise<T>): Promise<T> {
    const { askers, need } = currentAsking();
    const asking = this.#asking.get(key) ?? { askers: new Set(), need };
    this.#asking.set(key, asking);
    asking.need = Math.min(asking.need, need);
    for (const asker of askers) asking.askers.add(asker);
    return await current.run(asking, load).finally(() => this.#asking.delete(key));
  }
}
